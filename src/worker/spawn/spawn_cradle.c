#include "worker/spawn/spawn_cradle.h"
#include "base/mem.h"
#include "worker/spawn/raw_call.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The sanitizers keep books about every stack and every thread, and a process that appears in their
 * memory without being one of them confuses these. There, and where raw_call has to write errno,
 * the child gets a copy: slower, and otherwise the same. */
#if defined(__has_feature)
#define HAS_FEATURE(name) __has_feature(name)
#else
#define HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    HAS_FEATURE(address_sanitizer) || HAS_FEATURE(thread_sanitizer) || !RAW_CALLS_ARE_TRACELESS
enum { SHARES_MEMORY = 0 };
#else
enum { SHARES_MEMORY = 1 };
#endif

enum {
    STACK_BYTES = 16 << 10, /* spawn_exec uses a few hundred */
    GUARD_BYTES = 64 << 10, /* below it; a page, however large the machine's are */
};

struct cradle {
    struct cradle *next;
    atomic_int taken; /* cleared by the kernel */
    char *stack_end;  /* stacks grow down */
    struct arena arena;
    struct spawn_birth birth;
};

static char *new_stack(void)
{
    char *stack = mmap(NULL, GUARD_BYTES + STACK_BYTES, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED)
        return NULL;
    if (mprotect(stack + GUARD_BYTES, STACK_BYTES, PROT_READ | PROT_WRITE) != 0) {
        munmap(stack, GUARD_BYTES + STACK_BYTES);
        return NULL;
    }
    return stack + GUARD_BYTES + STACK_BYTES;
}

/* NULL when there is no memory for another. */
static struct cradle *find_free(struct cradles *cradles)
{
    for (struct cradle *c = cradles->first; c != NULL; c = c->next) {
        if (atomic_load(&c->taken) == 0)
            return c;
    }
    char *stack_end = new_stack();
    if (stack_end == NULL)
        return NULL;
    struct cradle *c = MEM_NEW(struct cradle);
    c->stack_end = stack_end;
    c->next = cradles->first;
    cradles->first = c;
    return c;
}

/* Returns the child's id, or -1 with errno. */
static pid_t give_birth(struct cradle *c)
{
    if (SHARES_MEMORY) {
        atomic_store(&c->taken, 1);
        pid_t pid = clone(spawn_exec, c->stack_end, CLONE_VM | CLONE_CHILD_CLEARTID | SIGCHLD,
                          &c->birth, NULL, NULL, &c->taken);
        if (pid < 0)
            atomic_store(&c->taken, 0);
        return pid;
    }
    /* Not fork: that would call handlers which libraries of the worker (libuv) have registered, and
     * which close descriptors by numbers that are ours here. */
    pid_t pid = _Fork();
    if (pid == 0)
        spawn_exec(&c->birth);
    return pid;
}

int cradles_start(struct cradles *cradles, uint64_t id, const int fds[SPAWN_FDS], int sock,
                  pid_t spawner, pid_t *ret_pid, enum spawn_step *ret_step)
{
    struct cradle *c = find_free(cradles);
    *ret_step = SPAWN_STEP_SETUP;
    if (c == NULL)
        return ENOMEM;
    arena_reset(&c->arena);
    c->birth = (struct spawn_birth){.id = id, .sock = sock, .spawner = spawner};
    memcpy(c->birth.fds, fds, sizeof(c->birth.fds));
    int error = spawn_plan_read(fds[SPAWN_FD_PLAN], &c->arena, &c->birth.plan);
    if (error != 0)
        return error;
    c->birth.files = spawn_files(&c->birth.plan, &c->arena);

    *ret_step = SPAWN_STEP_FORK;
    pid_t pid = give_birth(c);
    if (pid < 0)
        return errno;
    *ret_pid = pid;
    return 0;
}

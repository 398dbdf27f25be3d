#include "worker/spawn/spawn_exec.h"
#include "worker/spawn/raw_call.h"

#include <errno.h>
#include <limits.h>
#include <linux/close_range.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum {
    EXIT_NEVER_STARTED = 127,
    SIGNAL_SET_BYTES = 8, /* as the kernel counts; libc's sigset_t has room for more */
};

/* Where programs are looked for when the command's environment has no PATH; as glibc does. */
#define PATH_DEFAULT "/bin:/usr/bin"

/* ---- before: in the spawner */

static const char *find_env(char *const *env, const char *key)
{
    size_t len = strlen(key);
    for (; *env != NULL; env++) {
        if (strncmp(*env, key, len) == 0 && (*env)[len] == '=')
            return *env + len + 1;
    }
    return NULL;
}

/* Ends with NULL. */
static const char *const *files_in_path(const char *path, const char *name, struct arena *arena)
{
    size_t dirs = 1;
    for (const char *at = path; (at = strchr(at, ':')) != NULL; at++)
        dirs++;
    const char **files = ARENA_ARRAY(arena, const char *, dirs + 1);
    for (size_t count = 0; dirs > 0; dirs--) {
        size_t len = (size_t)(strchrnul(path, ':') - path);
        const char *slash = len == 0 ? "" : "/"; /* an empty entry is the current directory */
        if (len + strlen(name) + 2 <= PATH_MAX)  /* a longer one cannot be there */
            files[count++] = arena_printf(arena, "%.*s%s%s", (int)len, path, slash, name).ptr;
        path += len + 1;
    }
    return files;
}

const char *const *spawn_files(const struct spawn_plan *plan, struct arena *arena)
{
    const char *name = plan->argv[0];
    const char **files = ARENA_ARRAY(arena, const char *, 2);
    if (name[0] == '\0')
        return files;
    if (strchr(name, '/') == NULL) {
        const char *path = find_env(plan->env, "PATH");
        return files_in_path(path == NULL ? PATH_DEFAULT : path, name, arena);
    }
    files[0] = name;
    return files;
}

/* ---- after: in the child */

/* The socket may be full, so this may wait: nothing else is left to do here. */
static _Noreturn void fail(const struct spawn_birth *birth, enum spawn_step step, long error)
{
    struct spawn_event event = {
        .id = birth->id, .kind = SPAWN_FAILED, .step = step, .error = (int)-error};
    raw_call(SYS_write, birth->sock, (long)&event, sizeof(event), 0);
    for (;;)
        raw_call(SYS_exit_group, EXIT_NEVER_STARTED, 0, 0, 0);
}

/* Returns 0, or a negated errno; so do those below. */
static long set_up(const struct spawn_birth *birth)
{
    /* The death signal is forgotten when the parent was dead before we asked for it. */
    long error = raw_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0);
    if (error < 0)
        return error;
    if (raw_call(SYS_getppid, 0, 0, 0, 0) != birth->spawner)
        return -ESRCH;
    error = raw_call(SYS_setsid, 0, 0, 0, 0);
    for (int fd = 0; fd <= 2 && error >= 0; fd++)
        error = raw_call(SYS_dup3, birth->fds[fd], fd, 0, 0);
    if (error < 0)
        return error;
    /* Everything the spawner opens is close-on-exec already; this is for what it did not open. */
    raw_call(SYS_close_range, 3, UINT_MAX, CLOSE_RANGE_CLOEXEC, 0);
    return 0;
}

/* The spawner has every signal blocked, so one that was sent to us meanwhile is still pending: it
 * takes effect now, with its default meaning. No signal is ignored or handled in the spawner. */
static void listen_to_signals(void)
{
    static const char none[SIGNAL_SET_BYTES];
    raw_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)none, 0, SIGNAL_SET_BYTES);
}

/* A text without an interpreter is not given to a shell: a job that wants one names it. Returns
 * when nothing could be executed; EACCES when something was found that may not be. */
static long exec_first(const struct spawn_birth *birth)
{
    long result = -ENOENT;
    for (const char *const *file = birth->files; *file != NULL; file++) {
        long error =
            raw_call(SYS_execve, (long)*file, (long)birth->plan.argv, (long)birth->plan.env, 0);
        if (error == -EACCES)
            result = error;
        else if ((error != -ENOENT && error != -ENOTDIR) || *file == birth->plan.argv[0])
            return error;
    }
    return result;
}

int spawn_exec(void *arg)
{
    const struct spawn_birth *birth = arg;
    long error = set_up(birth);
    if (error < 0)
        fail(birth, SPAWN_STEP_SETUP, error);
    listen_to_signals();
    if (birth->plan.working_dir != NULL) {
        error = raw_call(SYS_chdir, (long)birth->plan.working_dir, 0, 0, 0);
        if (error < 0)
            fail(birth, SPAWN_STEP_CHDIR, error);
    }
    fail(birth, SPAWN_STEP_EXEC, exec_first(birth));
}

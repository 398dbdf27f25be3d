#include "worker/spawn_exec.h"

#include <errno.h>
#include <limits.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { EXIT_NEVER_STARTED = 127 };

/* Where programs are looked for when the command's environment has no PATH; as glibc does. */
#define PATH_DEFAULT "/bin:/usr/bin"

/* The socket may be full, so this may wait: nothing else is left to do here. */
static _Noreturn void fail(uint64_t id, int sock, enum spawn_step step, int error)
{
    struct spawn_event event = {.id = id, .kind = SPAWN_FAILED, .step = step, .error = error};
    spawn_send(sock, &event, sizeof(event), NULL, 0, 0);
    _exit(EXIT_NEVER_STARTED);
}

/* libc keeps the two signals below SIGRTMIN for its threads and refuses to touch them. A parent that
 * ignores them would hand that down and break threads of the command, so the kernel is asked. */
static void reset_reserved(void)
{
    const struct {
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)(void);
        unsigned long mask;
    } plain = {.handler = SIG_DFL};
    for (int signum = SIGSYS + 1; signum < SIGRTMIN; signum++)
        syscall(SYS_rt_sigaction, signum, &plain, NULL, sizeof(plain.mask));
}

/* The spawner has every signal blocked, so one that was sent to us meanwhile is still pending: it
 * takes effect, with its default meaning, when the mask is emptied. */
static void reset_signals(void)
{
    sigset_t none;
    for (int signum = 1; signum < NSIG; signum++)
        signal(signum, SIG_DFL); /* SIGKILL and SIGSTOP refuse, rightly */
    reset_reserved();
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static int set_up(const int fds[SPAWN_FDS], pid_t spawner)
{
    /* The death signal is forgotten when the parent was dead before we asked for it. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        return errno;
    if (getppid() != spawner)
        _exit(EXIT_NEVER_STARTED);
    if (setsid() < 0)
        return errno;
    for (int fd = 0; fd <= 2; fd++) {
        if (dup2(fds[fd], fd) < 0)
            return errno;
    }
    /* Everything the spawner opens is close-on-exec already; this is for what it did not open. */
    close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    return 0;
}

static const char *find_env(char *const *env, const char *key)
{
    size_t len = strlen(key);
    for (; *env != NULL; env++) {
        if (strncmp(*env, key, len) == 0 && (*env)[len] == '=')
            return *env + len + 1;
    }
    return NULL;
}

/* As execvpe, but PATH is the command's own and a text without an interpreter is not given to a
 * shell: who wants one says so. Returns an errno when nothing could be executed; EACCES when
 * something was found that may not be. */
static int exec_from_path(const struct spawn_plan *plan)
{
    const char *name = plan->argv[0];
    const char *path = find_env(plan->env, "PATH");
    int error = ENOENT;

    for (const char *dir = path == NULL ? PATH_DEFAULT : path; dir != NULL;) {
        const char *end = strchrnul(dir, ':');
        const char *slash = end == dir ? "" : "/"; /* an empty entry is the current directory */
        char file[PATH_MAX];
        int len = snprintf(file, sizeof(file), "%.*s%s%s", (int)(end - dir), dir, slash, name);
        if (len < (int)sizeof(file)) {
            execve(file, plan->argv, plan->env);
            if (errno == EACCES)
                error = EACCES;
            else if (errno != ENOENT && errno != ENOTDIR)
                return errno;
        }
        dir = *end == '\0' ? NULL : end + 1;
    }
    return error;
}

static int exec_plan(const struct spawn_plan *plan)
{
    if (plan->argv[0][0] == '\0')
        return ENOENT;
    if (strchr(plan->argv[0], '/') == NULL)
        return exec_from_path(plan);
    execve(plan->argv[0], plan->argv, plan->env);
    return errno;
}

_Noreturn void spawn_exec(uint64_t id, const int fds[SPAWN_FDS], int sock, pid_t spawner)
{
    struct arena arena = {0};
    struct spawn_plan plan;
    int error = set_up(fds, spawner);
    if (error == 0)
        error = spawn_plan_read(fds[SPAWN_FD_PLAN], &arena, &plan);
    if (error != 0)
        fail(id, sock, SPAWN_STEP_SETUP, error);
    reset_signals();
    if (plan.working_dir != NULL && chdir(plan.working_dir) != 0)
        fail(id, sock, SPAWN_STEP_CHDIR, errno);
    fail(id, sock, SPAWN_STEP_EXEC, exec_plan(&plan));
}

#include "bench/harness/child.h"
#include "base/buf.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    LINE_BYTES_MAX = 64 << 10, /* a longer line is no line of ours */
    READ_BYTES = 4096,
    ARGS_MAX = 32,
    EXEC_FAILED = 127, /* as of a shell */
};

struct child {
    pid_t pid;
    bool reaped;
    bool ended; /* the pipe is */
    int wait_status;
    struct rusage usage; /* once reaped */
    char complaint[64];
    uv_pipe_t pipe;
    struct buf lines; /* what came and is no whole line yet */
    char read_bytes[READ_BYTES];
    void (*on_line)(void *arg, struct str line);
    void *arg;
};

/* ---- its lines */

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *ret_buf)
{
    (void)suggested;
    struct child *c = handle->data;
    *ret_buf = uv_buf_init(c->read_bytes, sizeof c->read_bytes);
}

static void take_lines(struct child *c)
{
    struct str rest = buf_str(&c->lines);
    for (size_t end; (end = str_index(rest, '\n')) < rest.len; rest = str_from(rest, end + 1))
        c->on_line(c->arg, str_of(rest.ptr, end));
    buf_drop_front(&c->lines, c->lines.len - rest.len);
}

static void on_read(uv_stream_t *stream, ssize_t len, const uv_buf_t *bytes)
{
    struct child *c = stream->data;
    if (len < 0) {
        uv_read_stop(stream);
        c->ended = true;
        return;
    }
    buf_add(&c->lines, str_of(bytes->base, (size_t)len));
    take_lines(c);
    if (c->lines.overflow) {
        buf_free(&c->lines);
        c->lines = BUF(LINE_BYTES_MAX);
    }
}

/* ---- its beginning */

/* execv takes no const, so it gets copies; they go with the memory that it replaces. */
static void exec_self(const char *const *argv)
{
    char *copies[ARGS_MAX + 1] = {NULL};
    for (size_t i = 0; i < ARGS_MAX && argv[i] != NULL; i++)
        copies[i] = mem_dup(argv[i], strlen(argv[i]));
    execv("/proc/self/exe", copies);
}

/* Between fork and exec. The parent has one thread here, so everything may be called. */
_Noreturn static void become(const struct child_options *options, int pipe_fd, pid_t parent)
{
    sigset_t none;
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent && dup2(null_fd, STDIN_FILENO) >= 0 &&
        dup2(pipe_fd, options->lines_fd) >= 0)
        exec_self(options->argv);
    _exit(EXEC_FAILED);
}

static enum rc fork_child(const struct child_options *options, pid_t *ret_pid, int *ret_fd,
                          struct err *err)
{
    int fds[2];
    pid_t parent = getpid();
    if (pipe2(fds, O_CLOEXEC) != 0)
        return err_set(err, RC_IO, "cannot make a pipe: %s", strerror(errno));
    *ret_pid = fork();
    if (*ret_pid == 0)
        become(options, fds[1], parent);
    close(fds[1]);
    *ret_fd = fds[0];
    if (*ret_pid > 0)
        return RC_OK;
    close(fds[0]);
    return err_set(err, RC_IO, "cannot start a process: %s", strerror(errno));
}

enum rc child_start(uv_loop_t *loop, const struct child_options *options, struct child **ret_child,
                    struct err *err)
{
    pid_t pid = 0;
    int fd = -1;
    TRY(fork_child(options, &pid, &fd, err));
    struct child *c = MEM_NEW(struct child);
    c->pid = pid;
    c->on_line = options->on_line;
    c->arg = options->arg;
    c->lines = BUF(LINE_BYTES_MAX);
    uv_pipe_init(loop, &c->pipe, 0); /* cannot fail */
    c->pipe.data = c;
    int failed = uv_pipe_open(&c->pipe, fd);
    if (failed == 0)
        failed = uv_read_start((uv_stream_t *)&c->pipe, on_alloc, on_read);
    if (failed != 0) {
        child_free(c);
        return err_set(err, RC_IO, "cannot listen to a process: %s", uv_strerror(failed));
    }
    *ret_child = c;
    return RC_OK;
}

/* ---- its end */

static void on_closed(uv_handle_t *handle)
{
    struct child *c = handle->data;
    buf_free(&c->lines);
    free(c);
}

void child_free(struct child *c)
{
    if (c == NULL)
        return;
    child_signal(c, SIGKILL);
    if (!c->reaped)
        (void)waitpid(c->pid, &c->wait_status, 0);
    uv_close((uv_handle_t *)&c->pipe, on_closed);
}

static void describe_end(struct child *c)
{
    if (WIFSIGNALED(c->wait_status))
        snprintf(c->complaint, sizeof c->complaint, "%s", strsignal(WTERMSIG(c->wait_status)));
    else if (WEXITSTATUS(c->wait_status) != EXIT_SUCCESS)
        snprintf(c->complaint, sizeof c->complaint, "exit code %d", WEXITSTATUS(c->wait_status));
}

bool child_runs(struct child *c)
{
    if (!c->reaped && wait4(c->pid, &c->wait_status, WNOHANG, &c->usage) == c->pid) {
        c->reaped = true;
        describe_end(c);
    }
    return !c->reaped || !c->ended;
}

void child_signal(struct child *c, int signum)
{
    if (!c->reaped)
        kill(c->pid, signum);
}

const char *child_complaint(const struct child *c)
{
    return c->complaint[0] == '\0' ? NULL : c->complaint;
}

/* ---- what it costs */

static int64_t timeval_us(struct timeval t)
{
    return (int64_t)t.tv_sec * 1000000 + t.tv_usec;
}

int64_t child_cpu_us(const struct child *c)
{
    clockid_t clock;
    struct timespec used;
    if (c->reaped)
        return timeval_us(c->usage.ru_utime) + timeval_us(c->usage.ru_stime);
    if (clock_getcpuclockid(c->pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
        return 0;
    return (int64_t)used.tv_sec * 1000000 + used.tv_nsec / 1000;
}

int64_t child_peak_bytes(const struct child *c)
{
    return c->usage.ru_maxrss * INT64_C(1024);
}

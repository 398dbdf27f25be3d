#include "cli/exec/tee.h"
#include "base/buf.h"
#include "base/mem.h"
#include "job/ping.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    KEPT_MAX = PING_OUTPUT_MAX,
    PIECE_MAX = 1 << 16, /* what a pipe holds */
    /* When the command is over, and something that it left in the background still holds its
     * output: the rest of what was printed is waited for so long. */
    LINGER_MS = 1000,
    EXIT_NOT_FOUND = 127,
    EXIT_NOT_EXECUTABLE = 126,
};

/* ---- signals
 *
 * A handler may write to a pipe, and to little else. */

static const int handed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
static volatile sig_atomic_t child_pid; /* 0: there is none */
static volatile sig_atomic_t early;     /* a signal that came before there was one */
static int wake_pipe[2];

/* The terminal's, which the command has, too; but that the terminal is gone is told to the leader
 * of a session alone, and not to what that runs. */
static bool is_for_both(int signo, const siginfo_t *info)
{
    return info->si_code == SI_KERNEL && (signo != SIGHUP || getsid(0) != getpid());
}

static void hand_on(int signo, siginfo_t *info, void *context)
{
    int saved = errno;
    (void)context;
    if (!is_for_both(signo, info)) {
        if (child_pid > 0)
            kill(child_pid, signo);
        else
            early = signo;
    }
    errno = saved;
}

static void note_child(int signo)
{
    int saved = errno;
    (void)signo;
    (void)!write(wake_pipe[1], "", 1);
    errno = saved;
}

struct former {
    sigset_t blocked;
    struct sigaction handed_on[sizeof handed_on / sizeof handed_on[0]];
    struct sigaction child;
    struct sigaction pipe;
};

/* A signal that is ignored stays ignored, as under nohup. */
static void signals_begin(struct former *ret_former)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigaction child = {.sa_handler = note_child, .sa_flags = SA_RESTART | SA_NOCLDSTOP};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigset_t ours;
    action.sa_sigaction = hand_on;
    sigemptyset(&ours);
    sigaddset(&ours, SIGCHLD); /* which a careless parent has left blocked: no end would be heard */
    sigprocmask(SIG_UNBLOCK, &ours, &ret_former->blocked);
    for (size_t i = 0; i < COUNT_OF(handed_on); i++) {
        sigaction(handed_on[i], NULL, &ret_former->handed_on[i]);
        if (ret_former->handed_on[i].sa_handler != SIG_IGN)
            sigaction(handed_on[i], &action, NULL);
    }
    sigaction(SIGCHLD, &child, &ret_former->child);
    sigaction(SIGPIPE, &ignore, &ret_former->pipe);
}

static void signals_end(const struct former *former)
{
    for (size_t i = 0; i < COUNT_OF(handed_on); i++)
        sigaction(handed_on[i], &former->handed_on[i], NULL);
    sigaction(SIGCHLD, &former->child, NULL);
}

/* ---- the end of the output: a ring */

struct tail {
    char *bytes; /* owned: KEPT_MAX */
    uint64_t total;
};

static void tail_add(struct tail *t, const char *bytes, size_t len)
{
    for (size_t done = 0; done < len;) {
        size_t at = (size_t)(t->total % KEPT_MAX);
        size_t part = len - done < KEPT_MAX - at ? len - done : KEPT_MAX - at;
        memcpy(t->bytes + at, bytes + done, part);
        t->total += part;
        done += part;
    }
}

/* From the beginning of a character on, where a longer text was cut. */
static struct str tail_text(const struct tail *t, struct arena *arena)
{
    size_t len = t->total < KEPT_MAX ? (size_t)t->total : KEPT_MAX;
    size_t at = t->total < KEPT_MAX ? 0 : (size_t)(t->total % KEPT_MAX);
    char *text = arena_bytes(arena, len + 1);
    memcpy(text, t->bytes + at, len - at);
    memcpy(text + len - at, t->bytes, at);
    size_t from = 0;
    while (t->total > KEPT_MAX && from < 4 && ((unsigned char)text[from] & 0xc0) == 0x80)
        from++;
    return str_of(text + from, len - from);
}

/* ---- passing on */

struct stream {
    int from; /* -1: at its end */
    int to;   /* -1: it takes no more, and what still comes is only kept */
};

static bool write_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0 && errno == EAGAIN) { /* whoever gave it to us made it so */
            poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
            continue;
        }
        if (n < 0 && errno != EINTR)
            return false;
        bytes += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static void stream_end(struct stream *s)
{
    close(s->from);
    s->from = -1;
}

/* False: there is nothing (more) to read. */
static bool stream_pass(struct stream *s, struct tail *tail)
{
    char piece[PIECE_MAX];
    ssize_t n = read(s->from, piece, sizeof piece);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (n <= 0) {
        stream_end(s);
        return false;
    }
    tail_add(tail, piece, (size_t)n);
    if (s->to < 0 || write_all(s->to, piece, (size_t)n))
        return true;
    if (errno == EPIPE)
        stream_end(s); /* nobody reads it: so the command is told, by its next write */
    else
        s->to = -1; /* a full disk, say, of which the command shall not die */
    return s->from >= 0;
}

static int64_t now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * INT64_C(1000) + ts.tv_nsec / 1000000;
}

/* Until the command is over and all that it printed has passed. Returns its wait status. */
static int pass_on(pid_t pid, struct stream streams[2], struct tail *tail)
{
    int status = 0;
    bool over = false;
    int64_t until_ms = 0;
    while (streams[0].from >= 0 || streams[1].from >= 0 || !over) {
        struct pollfd fds[3] = {
            {streams[0].from, POLLIN, 0}, {streams[1].from, POLLIN, 0}, {wake_pipe[0], POLLIN, 0}};
        char ignored[64];
        int64_t left_ms = until_ms - now_ms();
        if (over && left_ms <= 0)
            break;
        (void)poll(fds, 3, over ? (int)left_ms : -1);
        for (size_t i = 0; i < 2; i++) {
            if (streams[i].from >= 0 && fds[i].revents != 0)
                (void)stream_pass(&streams[i], tail);
        }
        while (read(wake_pipe[0], ignored, sizeof ignored) > 0)
            ;
        if (!over && waitpid(pid, &status, WNOHANG) == pid) {
            over = true;
            child_pid = 0;
            until_ms = now_ms() + LINGER_MS;
        }
    }
    for (size_t i = 0; i < 2; i++) {
        if (streams[i].from >= 0)
            stream_end(&streams[i]);
    }
    return status;
}

/* ---- starting */

/* Where standard input, output or error are closed, a pipe of ours must not take their numbers. */
static void fill_standard(void)
{
    int fd = 0;
    while (fd >= 0 && fd <= STDERR_FILENO)
        fd = open("/dev/null", O_RDWR);
    if (fd > STDERR_FILENO)
        close(fd);
}

/* As `2>&1` makes them, and cron. One pipe for both keeps the order of what is printed. */
static bool is_one_file(void)
{
    struct stat out;
    struct stat err;
    return fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &err) == 0 &&
           out.st_dev == err.st_dev && out.st_ino == err.st_ino;
}

static void pipe_open(int fds[2])
{
    if (pipe2(fds, O_CLOEXEC) != 0) {
        perror("belfry exec: pipe");
        exit(EXIT_NOT_EXECUTABLE);
    }
    fcntl(fds[0], F_SETFL, O_NONBLOCK);
}

/* 0, or why not. SIGPIPE is ours to ignore and not the command's, unless it was ignored before. */
static int start(char *const *argv, int out, int err, const struct former *former, pid_t *ret_pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t usual;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
    posix_spawnattr_init(&attr);
    sigemptyset(&usual);
    if (former->pipe.sa_handler != SIG_IGN)
        sigaddset(&usual, SIGPIPE);
    posix_spawnattr_setsigdefault(&attr, &usual);
    posix_spawnattr_setsigmask(&attr, &former->blocked);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    int rc = posix_spawnp(ret_pid, argv[0], &actions, &attr, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attr);
    return rc;
}

static int code_of(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int code_of_failure(int error, const char *name, struct tail *tail)
{
    char text[512];
    int len =
        snprintf(text, sizeof text, "belfry exec: cannot run '%s': %s\n", name, strerror(error));
    size_t shown = len < (int)sizeof text ? (size_t)len : sizeof text - 1;
    (void)write_all(STDERR_FILENO, text, shown);
    tail_add(tail, text, shown);
    return error == ENOENT || error == ENOTDIR ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

struct tee_end tee_run(char *const *argv, struct arena *arena)
{
    struct tail tail = {.bytes = mem_new(KEPT_MAX)};
    struct former former;
    int out[2];
    int err[2];
    pid_t pid = 0;
    struct tee_end end = {0};
    fill_standard();
    pipe_open(wake_pipe);
    fcntl(wake_pipe[1], F_SETFL, O_NONBLOCK);
    pipe_open(out);
    pipe_open(err);
    signals_begin(&former);
    int rc = start(argv, out[1], is_one_file() ? out[1] : err[1], &former, &pid);
    close(out[1]);
    close(err[1]);
    if (rc == 0) {
        struct stream streams[2] = {{out[0], STDOUT_FILENO}, {err[0], STDERR_FILENO}};
        child_pid = pid;
        if (early != 0)
            kill(pid, early);
        end.exit_code = code_of(pass_on(pid, streams, &tail));
    } else {
        close(out[0]);
        close(err[0]);
        end.exit_code = code_of_failure(rc, argv[0], &tail);
    }
    signals_end(&former);
    end.output = tail_text(&tail, arena);
    end.output_bytes = tail.total;
    free(tail.bytes);
    return end;
}

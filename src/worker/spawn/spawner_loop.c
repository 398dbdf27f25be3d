#include "worker/spawn/spawner_loop.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "loop/clock.h"
#include "worker/spawn/pidlock.h"
#include "worker/spawn/spawn_cradle.h"
#include "worker/spawn/stray.h"
#include "worker/spawn/tmpdir.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    OUTBOX_BYTES_MAX = 16 << 20, /* 200,000 events: more than a worker has commands */
    LOOK_MS = 100,               /* between two looks at a process that has no mark */
    LOOKS_MAX = 20,              /* an exec takes less, also on a machine that is very busy */
    REAP_MAX = 256,              /* commands that may end between two looks for strays */
    ENDED_MAX = 16 * REAP_MAX,   /* remembered: a stray's children are found one look after it */
};

struct command {
    uint64_t id;
    pid_t pid;
    uint32_t place; /* in the deadlines */
    bool overdue;   /* killed for its deadline */
    char mark[SPAWN_MARK_MAX];
};

/* A command that ran. Its session may outlive it, and then nobody else can get the session's
 * number. */
struct ended {
    pid_t session;
    unsigned long long at; /* as of struct stray_birth */
};

struct nest {
    pid_t pid; /* our own */
    int sock;
    int signals;
    int timer; /* by the boot clock, which goes on while a machine sleeps */
    const struct spawn_deadlines *deadlines;
    int64_t next_ms;               /* boot clock: the timer rings then; 0: it does not */
    struct map by_id;              /* commands that run; owned */
    struct map by_pid;             /* the same */
    struct ended ended[ENDED_MAX]; /* the newest, in a ring */
    size_t ended_count;            /* of all times */
    struct cradles cradles;
    struct buf outbox; /* whole events that the socket had no room for */
    unsigned looks;    /* for strays, that are still to be taken */
    bool unmarked;     /* the last look saw a process without a mark */
    bool closed;       /* the worker is gone */
};

/* ---- telling */

static void flush(struct nest *n)
{
    size_t sent = 0;
    for (; sent < n->outbox.len; sent += sizeof(struct spawn_event)) {
        int error = spawn_send(n->sock, n->outbox.ptr + sent, sizeof(struct spawn_event), NULL, 0,
                               MSG_DONTWAIT);
        if (error != 0) {
            n->closed |= error != EAGAIN;
            break;
        }
    }
    buf_drop_front(&n->outbox, sent);
}

/* Never waits: a worker that is stopped must not keep us from killing in time. */
static void tell(struct nest *n, const struct spawn_event *event)
{
    buf_add(&n->outbox, str_of((const char *)event, sizeof(*event)));
    flush(n);
}

/* ---- commands */

static void signal_command(const struct command *c, int signum)
{
    /* The group exists once the child has called setsid; before, the child is alone. */
    if (kill(-c->pid, signum) != 0 && errno == ESRCH)
        kill(c->pid, signum);
}

static void signal_all(struct nest *n, int signum)
{
    MAP_EACH(&n->by_id, slot)
    {
        signal_command(slot->value, signum);
    }
}

static void tell_unstarted(struct nest *n, uint64_t id, enum spawn_step step, int error)
{
    tell(n, &(struct spawn_event){.id = id, .kind = SPAWN_FAILED, .step = step, .error = error});
    tell(n, &(struct spawn_event){.id = id, .kind = SPAWN_ENDED});
}

/* ---- leases that run out */

static int64_t deadline_of(const struct nest *n, const struct command *c)
{
    return atomic_load(&n->deadlines->at_ms[c->place]);
}

/* 0: never. By what is left and not by the moment: under tools that play with time a timer may ring
 * too early, and would again at once. */
static void set_timer(struct nest *n, int64_t at_ms)
{
    int64_t left_ms = at_ms == 0 ? 0 : at_ms - clock_boot_ms();
    if (at_ms != 0 && left_ms < 1)
        left_ms = 1;
    struct itimerspec when = {
        .it_value = {.tv_sec = left_ms / 1000, .tv_nsec = left_ms % 1000 * 1000000}};
    n->next_ms = at_ms;
    timerfd_settime(n->timer, 0, &when, NULL);
}

/* The timer has rung. Most deadlines have been moved since it was set, as a rule all of them. */
static void end_overdue(struct nest *n)
{
    int64_t now_ms = clock_boot_ms();
    int64_t next_ms = 0;
    MAP_EACH(&n->by_id, slot)
    {
        struct command *c = slot->value;
        int64_t at_ms = deadline_of(n, c);
        if (at_ms == 0 || c->overdue)
            continue;
        if (at_ms <= now_ms) {
            c->overdue = true;
            signal_command(c, SIGKILL);
        } else if (next_ms == 0 || at_ms < next_ms) {
            next_ms = at_ms;
        }
    }
    set_timer(n, next_ms);
}

static void watch_deadline(struct nest *n, const struct command *c)
{
    int64_t at_ms = deadline_of(n, c);
    if (at_ms != 0 && (n->next_ms == 0 || at_ms < n->next_ms))
        set_timer(n, at_ms);
}

/* ---- from the start to the end */

static void run_command(struct nest *n, const struct spawn_request *request,
                        const int fds[SPAWN_FDS])
{
    if (fds[SPAWN_FDS - 1] < 0) { /* the kernel delivers as many as we have room for */
        tell_unstarted(n, request->id, SPAWN_STEP_SETUP, EMFILE);
        return;
    }
    pid_t pid;
    enum spawn_step step;
    int error = cradles_start(&n->cradles, request->id, fds, n->sock, n->pid, &pid, &step);
    if (error != 0) {
        tell_unstarted(n, request->id, step, error);
        return;
    }
    struct command *c = MEM_NEW(struct command);
    c->id = request->id;
    c->pid = pid;
    c->place = request->place;
    memcpy(c->mark, request->mark, sizeof(c->mark));
    map_put(&n->by_id, c->id, c);
    map_put(&n->by_pid, (uint64_t)pid, c);
    watch_deadline(n, c);
}

static int64_t cpu_ms(const struct rusage *usage)
{
    struct timeval sum;
    timeradd(&usage->ru_utime, &usage->ru_stime, &sum);
    return (int64_t)sum.tv_sec * 1000 + sum.tv_usec / 1000;
}

static void end_command(struct nest *n, struct command *take_command, int wait_status,
                        const struct rusage *usage)
{
    map_remove(&n->by_id, take_command->id);
    map_remove(&n->by_pid, (uint64_t)take_command->pid);
    n->ended[n->ended_count++ % ENDED_MAX] =
        (struct ended){.session = take_command->pid, .at = stray_now()};
    tell(n, &(struct spawn_event){
                .id = take_command->id,
                .kind = SPAWN_ENDED,
                .wait_status = wait_status,
                .overdue = take_command->overdue,
                .cpu_ms = cpu_ms(usage),
                .peak_memory_bytes = (int64_t)usage->ru_maxrss * 1024,
            });
    free(take_command);
}

/* ---- what commands leave behind */

static bool mark_is_live(struct nest *n, const char *mark)
{
    MAP_EACH(&n->by_id, slot)
    {
        const struct command *c = slot->value;
        if (strcmp(c->mark, mark) == 0)
            return true;
    }
    return false;
}

/* Whether it was born in the session of a command that has ended since. One born later may be in a
 * session that got the same number. */
static bool is_left(const struct nest *n, const struct stray_birth *stray)
{
    for (size_t i = 0; i < ENDED_MAX; i++) {
        if (n->ended[i].session == stray->session && stray->at <= n->ended[i].at)
            return true;
    }
    return false;
}

/* Whether one without a mark may belong to a command that runs: to that of its session, or, unless
 * its session is that of one that ran, to one that is not younger than itself. */
static bool may_be_live(struct nest *n, pid_t child)
{
    struct stray_birth stray;
    struct stray_birth leader;
    if (!stray_birth(child, &stray) || map_get(&n->by_pid, (uint64_t)stray.session) != NULL)
        return true;
    if (is_left(n, &stray))
        return false;
    MAP_EACH(&n->by_pid, slot)
    {
        const struct command *c = slot->value;
        if (!stray_birth(c->pid, &leader) || leader.at <= stray.at)
            return true;
    }
    return false;
}

/* A child that is no leader was adopted. It dies when its mark says that it belongs to a command
 * that has ended. One that has cleared its environment dies when nobody who runs can have started
 * it; that is looked at again whenever a command ends. */
static void kill_if_stray(void *arg, pid_t child)
{
    struct nest *n = arg;
    char mark[SPAWN_MARK_MAX];
    if (map_get(&n->by_pid, (uint64_t)child) != NULL)
        return;
    bool marked = stray_env(child, SPAWN_MARK, mark, sizeof(mark));
    if (!(marked ? mark_is_live(n, mark) : may_be_live(n, child)))
        kill(child, SIGKILL);
    else if (!marked)
        n->unmarked = true;
}

/* A process that is just executing another program has no environment for a moment, and then looks
 * like one without a mark. Nothing tells us when that is over, so we look a few times more. */
static void look_for_strays(struct nest *n, unsigned looks_left)
{
    n->unmarked = false;
    stray_each(kill_if_stray, n);
    n->looks = n->unmarked ? looks_left : 0;
}

/* False when no child is waiting to be reaped. */
static bool reap_one(struct nest *n)
{
    siginfo_t info = {.si_pid = 0};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
        return false;
    /* While the leader is a zombie its number cannot be taken by another group. */
    struct command *c = map_get(&n->by_pid, (uint64_t)info.si_pid);
    if (c != NULL)
        kill(-c->pid, SIGKILL);
    struct rusage usage;
    int wait_status;
    if (wait4(info.si_pid, &wait_status, 0, &usage) == info.si_pid && c != NULL)
        end_command(n, c, wait_status, &usage);
    return true;
}

/* Reaps every child that has ended, and looks for strays after each REAP_MAX of them, while the
 * commands that have ended are still remembered. With every death more may have been left to us, so
 * this is repeated for as long as something of theirs still ends. */
static void reap(struct nest *n)
{
    bool more = true;
    while (more) {
        for (int reaped = 0; more && reaped < REAP_MAX; reaped++)
            more = reap_one(n);
        look_for_strays(n, LOOKS_MAX);
    }
}

/* ---- listening */

static void handle(struct nest *n, const struct spawn_request *request, const int fds[SPAWN_FDS])
{
    struct command *c = map_get(&n->by_id, request->id);
    switch (request->verb) {
    case SPAWN_RUN: run_command(n, request, fds); break;
    case SPAWN_SIGNAL:
        if (c != NULL)
            signal_command(c, request->signal);
        break;
    }
}

/* One request at a time, so that a flood of them does not keep ended commands waiting. */
static void serve(struct nest *n)
{
    struct spawn_request request;
    int fds[SPAWN_FDS];
    int error = spawn_receive(n->sock, &request, sizeof(request), fds);
    if (error != 0) {
        n->closed |= error != EAGAIN;
        return;
    }
    handle(n, &request, fds);
    for (size_t i = 0; i < SPAWN_FDS; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
}

static void forget_signals(struct nest *n)
{
    struct signalfd_siginfo info;
    while (read(n->signals, &info, sizeof(info)) > 0) {
    }
}

static void run(struct nest *n)
{
    while (!n->closed) {
        struct pollfd fds[] = {
            {.fd = n->sock, .events = n->outbox.len > 0 ? POLLIN | POLLOUT : POLLIN},
            {.fd = n->signals, .events = POLLIN},
            {.fd = n->timer, .events = POLLIN},
        };
        uint64_t expirations;
        int ready = poll(fds, COUNT_OF(fds), n->looks > 0 ? LOOK_MS : -1);
        if (ready < 0)
            continue; /* EINTR; nothing else can happen */
        if (ready == 0)
            look_for_strays(n, n->looks - 1);
        if (fds[2].revents != 0 && read(n->timer, &expirations, sizeof(expirations)) > 0)
            end_overdue(n);
        if (fds[1].revents != 0) {
            forget_signals(n);
            reap(n);
        }
        if ((fds[0].revents & POLLOUT) != 0)
            flush(n);
        if ((fds[0].revents & ~POLLOUT) != 0)
            serve(n);
    }
}

/* ---- beginning and end */

/* libc keeps the two signals below SIGRTMIN for its threads and refuses to touch them. A worker
 * that was started with them ignored would hand that down and break threads of commands, so the
 * kernel is asked. */
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

/* Commands inherit what a signal means, and start with the defaults. To us it is all the same: we
 * have every signal blocked, and hear of children through a descriptor. */
static void reset_signals(void)
{
    for (int signum = 1; signum < NSIG; signum++)
        signal(signum, SIG_DFL); /* SIGKILL and SIGSTOP refuse, rightly */
    reset_reserved();
}

/* Out of the worker's session, so that ^C in a terminal is the worker's business, and rid of every
 * descriptor that was not meant for us. */
static void detach(int *sock, int *keep_fd)
{
    setsid();
    prctl(PR_SET_NAME, "belfry-spawner");
    prctl(PR_SET_CHILD_SUBREAPER, 1);

    /* Two rounds, because the wanted descriptors may sit on each other's places. */
    *sock = fcntl(*sock, F_DUPFD_CLOEXEC, 10);
    *keep_fd = *keep_fd < 0 ? -1 : fcntl(*keep_fd, F_DUPFD_CLOEXEC, 10);
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(null_fd, STDIN_FILENO);
    dup2(null_fd, STDOUT_FILENO);
    if (fcntl(STDERR_FILENO, F_GETFD) < 0) /* started without one: keep its place taken */
        dup2(null_fd, STDERR_FILENO);
    int next = STDERR_FILENO + 1;
    *sock = dup3(*sock, next++, O_CLOEXEC);
    if (*keep_fd >= 0)
        *keep_fd = dup3(*keep_fd, next++, O_CLOEXEC);
    close_range((unsigned)next, ~0U, 0);
}

_Noreturn void spawner_loop(int sock, int keep_fd, const char *tmp_dir,
                            const struct spawn_deadlines *deadlines)
{
    struct nest nest = {.pid = getpid(), .deadlines = deadlines, .outbox = BUF(OUTBOX_BYTES_MAX)};
    struct err err;
    sigset_t child_signal;

    detach(&sock, &keep_fd);
    reset_signals();
    log_set_who("spawner");
    sigemptyset(&child_signal);
    sigaddset(&child_signal, SIGCHLD);
    nest.sock = sock;
    nest.signals = signalfd(-1, &child_signal, SFD_CLOEXEC | SFD_NONBLOCK);
    nest.timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (sock < 0 || nest.signals < 0 || nest.timer < 0) {
        log_error("the spawner cannot start", "error", strerror(errno), NULL);
        _exit(1);
    }
    run(&nest);
    signal_all(&nest, SIGKILL);
    /* If we die here, or before, the lock does not say so, and what we ran is waited for. */
    if (stray_kill_all(STRAY_TIMEOUT_MS) && keep_fd >= 0)
        pidlock_mark_clean(keep_fd);
    if (tmpdir_remove(tmp_dir, &err) != RC_OK)
        log_warn("the temporary directory could not be removed", "error", err.text, NULL);
    _exit(0);
}

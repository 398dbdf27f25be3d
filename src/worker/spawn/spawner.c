#include "worker/spawn/spawner.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "worker/spawn/spawner_loop.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Room for some forty requests: descriptors under way count against the limit of open files, which
 * is 1024 for most users, and there are SPAWN_FDS in each. */
enum { QUEUE_BYTES = 16 << 10, WAKE_MS = 100 };

struct spawner {
    int sock; /* owned */
    pid_t pid;
    bool gone; /* the process */
    bool listening;
    struct spawn_deadlines *deadlines; /* owned; shared with the process */
    struct map places;                 /* in them, by command: the address of its deadline */
    uint32_t *spare;                   /* owned: places that are free, the next one last */
    size_t spare_count;
    uv_poll_t poll;
    struct spawner_events events;
};

/* ---- deadlines */

static enum rc open_deadlines(struct spawner *s, struct err *err)
{
    void *memory = mmap(NULL, sizeof(struct spawn_deadlines), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return err_set(err, RC_IO, "share memory with the spawner: %s", strerror(errno));
    s->deadlines = memory;
    s->spare = mem_new(SPAWN_COMMANDS_MAX * sizeof(s->spare[0]));
    for (uint32_t place = SPAWN_COMMANDS_MAX; place > 0; place--)
        s->spare[s->spare_count++] = place - 1;
    return RC_OK;
}

static void free_all(struct spawner *s)
{
    if (s->deadlines != NULL)
        munmap(s->deadlines, sizeof(*s->deadlines));
    map_free(&s->places);
    free(s->spare);
    free(s);
}

static enum rc take_place(struct spawner *s, uint64_t id, int64_t deadline_ms, uint32_t *ret_place,
                          struct err *err)
{
    if (s->spare_count == 0)
        return err_set(err, RC_BUSY, "more than %d commands at once", SPAWN_COMMANDS_MAX);
    *ret_place = s->spare[--s->spare_count];
    atomic_store(&s->deadlines->at_ms[*ret_place], deadline_ms);
    map_put(&s->places, id, &s->deadlines->at_ms[*ret_place]);
    return RC_OK;
}

/* The spawner has forgotten the command, and does not look there any more. */
static void free_place(struct spawner *s, uint64_t id)
{
    _Atomic int64_t *at_ms = map_remove(&s->places, id);
    if (at_ms != NULL)
        s->spare[s->spare_count++] = (uint32_t)(at_ms - s->deadlines->at_ms);
}

void spawner_set_deadline(struct spawner *s, uint64_t id, int64_t deadline_ms)
{
    _Atomic int64_t *at_ms = map_get(&s->places, id);
    if (at_ms != NULL)
        atomic_store(at_ms, deadline_ms);
}

/* ---- the process */

/* Forks with every signal blocked, and the child stays so: none may hit it half born. */
static pid_t fork_deaf(void)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid != 0)
        sigprocmask(SIG_SETMASK, &before, NULL);
    return pid;
}

enum rc spawner_new(const char *tmp_dir, int keep_fd, struct spawner **ret_spawner, struct err *err)
{
    static const int queue_bytes = QUEUE_BYTES;
    int pair[2];
    struct spawner *s = MEM_NEW(struct spawner);
    if (open_deadlines(s, err)) {
        free_all(s);
        return err->rc;
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        free_all(s);
        return err_set(err, RC_IO, "socketpair: %s", strerror(errno));
    }
    setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &queue_bytes, sizeof(queue_bytes));
    pid_t pid = fork_deaf();
    if (pid < 0) {
        err_set(err, RC_IO, "fork the spawner: %s", strerror(errno));
        close(pair[0]);
        close(pair[1]);
        free_all(s);
        return err->rc;
    }
    if (pid == 0)
        spawner_loop(pair[1], keep_fd, tmp_dir, s->deadlines);
    close(pair[1]);

    s->sock = pair[0];
    s->pid = pid;
    *ret_spawner = s;
    return RC_OK;
}

/* The socket stays open, for libuv's sake, and the handle allocated: its owner frees it. */
static void lose(struct spawner *s)
{
    uv_poll_stop(&s->poll);
    s->gone = true;
    s->events.on_gone(s->events.arg);
}

static void receive_all(struct spawner *s)
{
    while (!s->gone && !uv_is_closing((uv_handle_t *)&s->poll)) {
        struct spawn_event event;
        int error = spawn_receive(s->sock, &event, sizeof(event), NULL);
        if (error == EAGAIN)
            return;
        if (error == ECONNRESET)
            continue;
        if (error == 0 && event.kind == SPAWN_ENDED)
            free_place(s, event.id);
        if (error != 0)
            lose(s);
        else
            s->events.on_event(s->events.arg, &event);
    }
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
    struct spawner *s = poll->data;
    (void)status; /* an error shows when we read */
    if ((events & UV_WRITABLE) != 0) {
        uv_poll_start(poll, UV_READABLE, on_ready);
        s->events.on_room(s->events.arg);
    }
    receive_all(s);
}

void spawner_listen(struct spawner *s, uv_loop_t *loop, const struct spawner_events *events)
{
    assert(!s->listening);
    s->events = *events;
    s->listening = true;
    int failed = uv_poll_init(loop, &s->poll, s->sock);
    assert(failed == 0); /* a socket can always be polled */
    (void)failed;
    s->poll.data = s;
    uv_poll_start(&s->poll, UV_READABLE, on_ready);
}

static void on_closed(uv_handle_t *handle)
{
    free_all(handle->data);
}

void spawner_free(struct spawner *s)
{
    if (s == NULL)
        return;
    if (s->listening)
        uv_close((uv_handle_t *)&s->poll, on_closed);
    close(s->sock);
    if (!s->listening)
        free_all(s);
}

pid_t spawner_pid(const struct spawner *s)
{
    return s->pid;
}

void spawner_wake(struct spawner *s)
{
    siginfo_t info = {0};
    if (s->gone || waitid(P_PID, (id_t)s->pid, &info, WSTOPPED | WNOHANG) != 0 || info.si_pid == 0)
        return;
    log_warn("the spawner was stopped by a signal; it is told to go on", NULL);
    kill(s->pid, SIGCONT);
}

/* May wait while the socket is full, which is short: the spawner never waits for us, and when it
 * was stopped it is woken. (libuv has made the socket one that does not wait by itself.) */
static int ask(struct spawner *s, const struct spawn_request *request, const int *fds, size_t count)
{
    if (s->gone)
        return EPIPE;
    for (;;) {
        int error = spawn_send(s->sock, request, sizeof(*request), fds, count, 0);
        if (error != EAGAIN)
            return error;
        if (poll(&(struct pollfd){.fd = s->sock, .events = POLLOUT}, 1, WAKE_MS) == 0)
            spawner_wake(s);
    }
}

bool spawner_has_room(struct spawner *s)
{
    struct pollfd ready = {.fd = s->sock, .events = POLLOUT};
    if (s->gone || poll(&ready, 1, 0) > 0)
        return true; /* also when it is gone: asking tells */
    uv_poll_start(&s->poll, UV_READABLE | UV_WRITABLE, on_ready);
    return false;
}

enum rc spawner_run(struct spawner *s, uint64_t id, const struct spawn_plan *plan, const char *mark,
                    const int stdio[3], int64_t deadline_ms, struct err *err)
{
    struct spawn_request request = {.id = id, .verb = SPAWN_RUN};
    int fds[SPAWN_FDS] = {stdio[0], stdio[1], stdio[2], -1};

    assert(strncmp(mark, SPAWN_MARK, strlen(SPAWN_MARK)) == 0);
    assert(strlen(mark) < sizeof(request.mark));
    snprintf(request.mark, sizeof(request.mark), "%s", mark);
    TRY(spawn_plan_write(plan, &fds[SPAWN_FD_PLAN], err));
    int error = take_place(s, id, deadline_ms, &request.place, err) == RC_OK
                    ? ask(s, &request, fds, SPAWN_FDS)
                    : EBUSY;
    close(fds[SPAWN_FD_PLAN]);
    if (error == EBUSY)
        return err->rc;
    if (error != 0)
        free_place(s, id);
    if (error == EPIPE || error == ECONNRESET)
        return err_set(err, RC_SHUTDOWN, "the spawner is gone");
    if (error != 0)
        return err_set(err, RC_IO, "ask the spawner: %s", strerror(error));
    return RC_OK;
}

/* A spawner that is gone reports itself through on_gone. */
void spawner_signal(struct spawner *s, uint64_t id, int signum)
{
    struct spawn_request request = {.id = id, .verb = SPAWN_SIGNAL, .signal = signum};
    (void)ask(s, &request, NULL, 0);
}

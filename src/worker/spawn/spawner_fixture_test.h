/* spawner_fixture_test.h - a spawner of one's own, with real processes; included by tests only.
 *
 * Nothing here waits for a fixed time: a test waits for what must happen, and fails when it has not
 * after PATIENCE_MS. */
#pragma once
#include "base/test/test.h"
#include "loop/clock.h"
#include "worker/spawn/spawner.h"
#include "worker/spawn/tmpdir.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 20000, EVENTS_MAX = 4096 };

struct nursery {
    int64_t deadline_ms; /* of the commands that are run from now on; 0: none */
    uv_loop_t loop;
    uv_timer_t tick;
    struct spawner *spawner;
    char *tmp_dir;
    struct spawn_event events[EVENTS_MAX];
    size_t event_count;
    bool gone;
};

/* ---- the machinery */

static inline void on_event(void *arg, const struct spawn_event *event)
{
    struct nursery *n = arg;
    assert_true(n->event_count < EVENTS_MAX);
    n->events[n->event_count++] = *event;
}

static inline void on_gone(void *arg)
{
    struct nursery *n = arg;
    n->gone = true;
}

static inline void on_tick(uv_timer_t *timer)
{
    uv_stop(timer->loop);
}

static inline int open_nursery(void **state)
{
    struct nursery *n = calloc(1, sizeof(*n));
    n->tmp_dir = tmpdir_name("/tmp");
    assert_int_equal(spawner_new(n->tmp_dir, -1, &n->spawner, NULL), RC_OK);
    assert_int_equal(tmpdir_make(n->tmp_dir, NULL), RC_OK);
    uv_loop_init(&n->loop);
    uv_timer_init(&n->loop, &n->tick);
    uv_timer_start(&n->tick, on_tick, 5, 5);
    spawner_listen(n->spawner, &n->loop,
                   &(struct spawner_events){.on_event = on_event, .on_gone = on_gone, .arg = n});
    *state = n;
    return 0;
}

/* As a worker that goes away: closes its end of the socket, and nothing else. */
static inline void leave_nursery(struct nursery *n)
{
    pid_t pid = spawner_pid(n->spawner);
    spawner_free(n->spawner);
    n->spawner = NULL;
    uv_run(&n->loop, UV_RUN_NOWAIT);
    waitpid(pid, NULL, 0);
}

static inline int close_nursery(void **state)
{
    struct nursery *n = *state;
    if (n->spawner != NULL)
        leave_nursery(n);
    uv_close((uv_handle_t *)&n->tick, NULL);
    uv_run(&n->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&n->loop), 0);
    struct stat st;
    assert_int_equal(stat(n->tmp_dir, &st), -1);
    free(n->tmp_dir);
    free(n);
    return 0;
}

typedef bool condition(struct nursery *n, uint64_t arg);

static inline void wait_for(struct nursery *n, condition *holds, uint64_t arg)
{
    int64_t end_us = clock_mono_us() + PATIENCE_MS * INT64_C(1000);
    while (!holds(n, arg)) {
        assert_true(clock_mono_us() < end_us);
        uv_run(&n->loop, UV_RUN_ONCE);
    }
}

static inline const struct spawn_event *find_event(const struct nursery *n, uint64_t id,
                                                   enum spawn_kind kind)
{
    for (size_t i = 0; i < n->event_count; i++) {
        if (n->events[i].id == id && n->events[i].kind == kind)
            return &n->events[i];
    }
    return NULL;
}

static inline bool has_ended(struct nursery *n, uint64_t id)
{
    return find_event(n, id, SPAWN_ENDED) != NULL;
}

/* The exit status, as the shell says it: 128 + signal when killed. */
static inline int wait_for_end(struct nursery *n, uint64_t id)
{
    wait_for(n, has_ended, id);
    int status = find_event(n, id, SPAWN_ENDED)->wait_status;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* A zombie counts: whoever should reap it may be slow. */
static inline bool is_dead(struct nursery *n, uint64_t pid)
{
    (void)n;
    char path[64];
    char text[512] = "";
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        return true;
    ssize_t len = read(fd, text, sizeof(text) - 1);
    close(fd);
    const char *after_name = len > 0 ? strrchr(text, ')') : NULL;
    return after_name == NULL || after_name[2] == 'Z' || after_name[2] == 'X';
}

/* Runs argv with its standard output and error in out_fd. */
static inline void run_argv(struct nursery *n, uint64_t id, char *const *argv,
                            const char *working_dir, int out_fd)
{
    char mark[SPAWN_MARK_MAX];
    char path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
    snprintf(mark, sizeof(mark), SPAWN_MARK "exec_%llu", (unsigned long long)id);
    char *env[] = {mark, path, NULL};
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    int stdio[3] = {null_fd, out_fd < 0 ? null_fd : out_fd, out_fd < 0 ? null_fd : out_fd};
    struct spawn_plan plan = {.working_dir = working_dir, .argv = argv, .env = env};
    struct err err;
    if (spawner_run(n->spawner, id, &plan, mark, stdio, n->deadline_ms, &err))
        fail_msg("%s", err.text);
    close(null_fd);
}

static inline void run_sh(struct nursery *n, uint64_t id, const char *script, int out_fd)
{
    char sh[] = "/bin/sh";
    char c[] = "-c";
    char *text = strdup(script);
    run_argv(n, id, (char *[]){sh, c, text, NULL}, NULL, out_fd);
    free(text);
}

/* What a script prints, until it ends. */
static inline void output_of(struct nursery *n, uint64_t id, const char *script, char *ret_text,
                             size_t size)
{
    int pair[2];
    assert_int_equal(pipe2(pair, O_CLOEXEC), 0);
    run_sh(n, id, script, pair[1]);
    close(pair[1]);
    assert_int_equal(wait_for_end(n, id), 0);
    ssize_t len = read(pair[0], ret_text, size - 1);
    ret_text[len < 0 ? 0 : len] = '\0';
    close(pair[0]);
}

/* Runs a script that prints one process id, and waits for that line. */
static inline pid_t run_sh_for_pid(struct nursery *n, uint64_t id, const char *script)
{
    int pair[2];
    char line[32] = "";
    assert_int_equal(pipe2(pair, O_CLOEXEC), 0);
    run_sh(n, id, script, pair[1]);
    close(pair[1]);
    assert_true(read(pair[0], line, sizeof(line) - 1) > 0);
    close(pair[0]);
    return (pid_t)strtol(line, NULL, 10);
}

static inline void expect_failure(struct nursery *n, char *program, const char *working_dir,
                                  enum spawn_step step, int error)
{
    static uint64_t id = 1000;
    run_argv(n, ++id, (char *[]){program, NULL}, working_dir, -1);
    wait_for(n, has_ended, id);
    const struct spawn_event *failed = find_event(n, id, SPAWN_FAILED);
    assert_non_null(failed);
    assert_int_equal(failed->step, step);
    assert_int_equal(failed->error, error);
}

/* Prints the id of a process that has left session and group, and whose parent is gone. */
#define ESCAPE "( setsid sh -c 'echo $$; exec sleep 1000' & ) "

/* worker_fixture_test.h - a worker as a process of its own, and the fake server that it talks to;
 * included by tests only. */
#pragma once
#include "base/log.h"
#include "worker/link/fake_server_test.h"
#include "worker/spawn/tmpdir.h"
#include "worker/worker.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLOTS = 4 };

struct site {
    uv_loop_t loop;
    struct fake_server *server;
    char dir[64]; /* root of the worker's temporary files, and home of the lock */
    char lock_path[128];
    char id_path[128]; /* who holds it, for the servers */
    int64_t drain_timeout_ms;
    pid_t worker; /* 0: none */
};

static inline pid_t fork_worker(struct site *s)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    struct worker_options options = {
        .url = str_c(s->server->url),
        .token = STR("key"),
        .name = STR("test"),
        .slots = SLOTS,
        .lock_path = s->lock_path,
        .tmp_root = s->dir,
        .drain_timeout_ms = s->drain_timeout_ms,
    };
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    log_set_level(LOG_ERROR);
    _exit(worker_main(&options));
}

static inline int set_up(void **state)
{
    struct site *s = MEM_NEW(struct site);
    snprintf(s->dir, sizeof(s->dir), "/tmp/belfry-test-XXXXXX");
    assert_non_null(mkdtemp(s->dir));
    snprintf(s->lock_path, sizeof(s->lock_path), "%s/lock", s->dir);
    snprintf(s->id_path, sizeof(s->id_path), "%s/lock.id", s->dir);
    s->drain_timeout_ms = WORKER_DRAIN_TIMEOUT_MS;
    uv_loop_init(&s->loop);
    s->server = fake_new(&s->loop);
    s->server->welcome.kill_grace_ms = 300;
    *state = s;
    return 0;
}

/* Apart from set_up, so that a test can choose other settings first. */
static inline void start(struct site *s)
{
    s->worker = fork_worker(s);
    FAKE_WAIT(s->server, s->server->parked != NULL);
}

static inline bool has_exited(struct site *s, int *ret_code)
{
    int status;
    if (waitpid(s->worker, &status, WNOHANG) != s->worker)
        return false;
    s->worker = 0;
    *ret_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return true;
}

static inline int wait_for_exit(struct site *s)
{
    int code = -1;
    FAKE_WAIT(s->server, has_exited(s, &code));
    return code;
}

/* How many temporary directories of workers there are. */
static inline size_t count_tmp(const struct site *s)
{
    size_t count = 0;
    DIR *dir = opendir(s->dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        count += strncmp(entry->d_name, "belfry-worker-", 14) == 0;
    closedir(dir);
    return count;
}

static inline void remove_tmp(const struct site *s)
{
    DIR *dir = opendir(s->dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char path[512];
        struct err err;
        snprintf(path, sizeof(path), "%s/%s", s->dir, entry->d_name);
        if (strncmp(entry->d_name, "belfry-worker-", 14) == 0)
            tmpdir_remove(path, &err); /* may be going already, by its own spawner */
    }
    closedir(dir);
}

static inline int tear_down(void **state)
{
    struct site *s = *state;
    if (s->worker != 0) {
        kill(s->worker, SIGKILL);
        wait_for_exit(s);
    }
    FAKE_WAIT(s->server, count_tmp(s) == 0); /* whatever happened */
    unlink(s->lock_path);
    unlink(s->id_path);
    assert_int_equal(rmdir(s->dir), 0);
    fake_free(s->server);
    assert_int_equal(uv_loop_close(&s->loop), 0);
    free(s);
    return 0;
}

static inline bool is_dead(pid_t pid)
{
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

/* Runs a command that prints the id of a process and goes on; waits for it. */
static inline pid_t lease_for_pid(struct site *s, uint64_t exec_id, const char *spec)
{
    size_t before = s->server->log.len;
    fake_lease(s->server, exec_id, 1, spec, "");
    FAKE_WAIT(s->server, s->server->log.len > before);
    char line[32] = "";
    memcpy(line, s->server->log.ptr + before,
           s->server->log.len - before < 31 ? s->server->log.len - before : 31);
    return (pid_t)strtol(line, NULL, 10);
}

#define ENDLESS "{\"command\": \"echo $$; exec sleep 1000\"}"
#define STUBBORN "{\"command\": \"trap '' TERM; echo $$; while :; do sleep 1000; done\"}"

static inline pid_t spawner_of(pid_t worker)
{
    char path[64];
    char text[64] = "";
    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)worker, (int)worker);
    int fd = open(path, O_RDONLY);
    assert_true(read(fd, text, sizeof(text) - 1) > 0);
    close(fd);
    return (pid_t)strtol(text, NULL, 10);
}

#include "server/local_worker.h"
#include "base/log.h"
#include "base/mem.h"
#include "job/job_env.h"
#include "loop/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_MS = 1000, DRAIN_LOOK_MS = 50 };

struct local_worker {
    uv_timer_t timer;
    const struct server *server;
    struct arena arena; /* of the texts */
    const char *url;
    const char *lock_path;
    const char *url_path; /* a file with the url that the newest worker was given */
    const char *key_path;
    const char *job_env;
    char *const *env; /* the worker's */
    pid_t child;      /* started by us and not reaped yet; 0: none */
    bool draining;
    bool asked; /* draining: it was sent SIGTERM; a second one would end it at once */
    void (*on_gone)(void *arg);
    void *arg;
};

/* Whether this process was started as a worker with this lock. The number in a lock may be that of
 * a worker that is dead, while its spawner still cleans up and holds the lock, and by now of
 * somebody else altogether. Arguments are what a process that is not dumpable shows to others of
 * its user. */
static bool is_worker(const struct local_worker *w, pid_t pid)
{
    char path[64];
    char *word = NULL;
    size_t room = 0;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    while (!found && getdelim(&word, &room, '\0', file) > 0)
        found = strcmp(word, w->lock_path) == 0;
    free(word);
    (void)fclose(file); /* was only read */
    return found;
}

/* Whether a signal has stopped it. Behind the name, which may hold anything, stands the state. */
static bool is_stopped(pid_t pid)
{
    char path[64];
    char text[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    size_t len = fread(text, 1, sizeof text - 1, file);
    (void)fclose(file); /* was only read */
    text[len] = '\0';
    const char *name_end = strrchr(text, ')');
    return name_end != NULL && strncmp(name_end, ") T", 3) == 0;
}

/* Whoever stopped it, a job perhaps: nothing runs without it, nobody takes its place while it holds
 * the lock, and it would never leave. */
static void wake(pid_t holder)
{
    if (holder <= 0 || !is_stopped(holder))
        return;
    log_warn("the worker beside this server was stopped by a signal; it is told to go on", NULL);
    kill(holder, SIGCONT);
}

static pid_t read_holder(const struct local_worker *w, int fd)
{
    char text[24] = "";
    uint64_t pid = 0;
    ssize_t len = pread(fd, text, sizeof text - 1, 0);
    bool ok = len > 0 && str_to_u64(str_trim(str_of(text, (size_t)len)), &pid);
    return ok && pid > 0 && pid < INT32_MAX && is_worker(w, (pid_t)pid) ? (pid_t)pid : -1;
}

/* The worker that holds the lock, 0 when nobody does, -1 when somebody does who cannot be asked: a
 * worker that has not said who it is yet, or what a dead one left. */
static pid_t lock_holder(const struct local_worker *w)
{
    int fd = open(w->lock_path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    pid_t holder = flock(fd, LOCK_SH | LOCK_NB) == 0 ? 0 : read_holder(w, fd);
    close(fd);
    return holder;
}

/* execv only reads through the pointers; its type cannot say so. */
static void exec_path(const char *path, const char *const *argv, char *const *env)
{
    union {
        const char *const *in;
        char *const *out;
    } args = {.in = argv};
    execve(path, args.out, env);
}

/* What is ours it is told by its arguments, and with the database it has no business, unless its
 * jobs have. The array is made before the fork and serves as long as the server lives. */
static char *const *worker_env(const char *job_env, struct arena *arena)
{
    const struct str list = str_c(job_env);
    size_t count = 0;
    size_t kept = 0;
    while (environ[count] != NULL)
        count++;
    char **env = ARENA_ARRAY(arena, char *, count + 1);
    for (size_t i = 0; i < count; i++) {
        struct str name = str_of(environ[i], (size_t)(strchrnul(environ[i], '=') - environ[i]));
        bool ours = str_starts(name, STR("BELFRY_")) || str_starts(name, STR("PG"));
        if (!ours || job_env_allows(name, &list, 1))
            env[kept++] = environ[i];
    }
    return env;
}

static void exec_worker(const struct local_worker *w)
{
    char slots[24];
    snprintf(slots, sizeof slots, "%llu", (unsigned long long)w->server->options->slots);
    const char *argv[] = {"belfry",
                          "worker",
                          "--server",
                          w->url,
                          "--token-file",
                          w->key_path,
                          "--slots",
                          slots,
                          "--lock",
                          w->lock_path,
                          "--log-level",
                          log_level_name((enum log_level)w->server->options->log_level),
                          "--log-format",
                          log_format_name((enum log_format)w->server->options->log_format),
                          w->job_env[0] != '\0' ? "--env" : NULL,
                          w->job_env,
                          NULL};
    static const int handled[] = {SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGPIPE, SIGXFSZ};
    for (size_t i = 0; i < COUNT_OF(handled); i++)
        signal(handled[i], SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setrlimit(RLIMIT_NOFILE, &w->server->files);
    setsid();
    /* By its name, so that ps shows one; a binary that was replaced meanwhile has none any more. */
    char path[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);
    path[len > 0 ? len : 0] = '\0';
    exec_path(path, argv, w->env);
    exec_path("/proc/self/exe", argv, w->env);
    _exit(127);
}

static void note_url(const struct local_worker *w)
{
    int fd = open(w->url_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || dprintf(fd, "%s\n", w->url) < 0)
        log_warn("cannot write", "file", w->url_path, "error", strerror(errno), NULL);
    if (fd >= 0)
        close(fd);
}

/* The worker of the server before goes on asking where that one listened. When this one listens
 * elsewhere they would never meet, and it would keep the lock for ever. */
static void adopt(struct local_worker *w, pid_t holder)
{
    struct str url;
    bool known = file_read(w->url_path, PATH_MAX, &w->arena, &url, NULL) == RC_OK;
    if (!known || str_eq(str_trim(url), str_c(w->url))) {
        log_info("found the worker of this server's former life, which goes on", NULL);
        return;
    }
    log_warn("the worker of this server's former life knows another address; it is asked to leave",
             NULL);
    if (holder > 0)
        kill(holder, SIGTERM);
}

/* Signals wait until the child has its own dispositions: libuv's handler, which it inherits, would
 * take one that is meant for the child and tell the parent's loop of it. */
static void start(struct local_worker *w)
{
    sigset_t all;
    sigset_t before;
    note_url(w);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid == 0)
        exec_worker(w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (pid < 0) {
        log_error("cannot start the worker", "error", strerror(errno), NULL);
        return;
    }
    w->child = pid;
    log_info("started the worker beside this server", NULL);
}

static void reap(struct local_worker *w)
{
    int status;
    if (w->child == 0 || waitpid(w->child, &status, WNOHANG) != w->child)
        return;
    w->child = 0;
    if (!w->draining)
        log_warn("the worker beside this server ended; starting another", NULL);
}

/* One that has not said who it is yet is asked when it has. */
static void ask_to_leave(struct local_worker *w, pid_t holder)
{
    if (holder <= 0)
        holder = w->child;
    if (w->asked || holder <= 0)
        return;
    w->asked = true;
    kill(holder, SIGTERM);
}

static void look(uv_timer_t *timer)
{
    struct local_worker *w = timer->data;
    reap(w);
    pid_t holder = lock_holder(w);
    wake(holder);
    if (w->draining) {
        ask_to_leave(w, holder);
        if (holder == 0 && w->child == 0) {
            uv_timer_stop(timer);
            w->on_gone(w->arg);
        }
    } else if (holder == 0 && w->child == 0) {
        start(w);
    }
}

/* Always spelled the same: it is found among the arguments of the worker of a server before. */
static const char *lock_path(struct arena *arena, const char *dir)
{
    char real[PATH_MAX];
    return arena_printf(arena, "%s/worker.lock", realpath(dir, real) != NULL ? real : dir).ptr;
}

struct local_worker *local_worker_new(uv_loop_t *loop, const struct server *server, const char *url)
{
    struct local_worker *w = MEM_NEW(struct local_worker);
    const char *dir = server->options->data_dir;
    w->server = server;
    w->url = arena_zstr(&w->arena, str_c(url));
    w->job_env = server->options->job_env;
    w->env = worker_env(w->job_env, &w->arena);
    w->lock_path = lock_path(&w->arena, dir);
    w->url_path = arena_printf(&w->arena, "%s/worker.url", dir).ptr;
    w->key_path = arena_printf(&w->arena, "%s/worker.key", dir).ptr;
    uv_timer_init(loop, &w->timer);
    w->timer.data = w;
    pid_t holder = lock_holder(w);
    if (holder != 0)
        adopt(w, holder);
    uv_timer_start(&w->timer, look, 0, LOOK_MS);
    return w;
}

void local_worker_drain(struct local_worker *w, void (*on_gone)(void *arg), void *arg)
{
    w->draining = true;
    w->on_gone = on_gone;
    w->arg = arg;
    uv_timer_start(&w->timer, look, 0, DRAIN_LOOK_MS);
}

static void on_closed(uv_handle_t *handle)
{
    struct local_worker *w = handle->data;
    arena_free(&w->arena);
    free(w);
}

void local_worker_free(struct local_worker *w)
{
    if (w != NULL)
        uv_close((uv_handle_t *)&w->timer, on_closed);
}

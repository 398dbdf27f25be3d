#include "store/sqlite/wal_checkpoint.h"
#include "base/mem.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEP_PAGES = 4096,             /* 16 MB of log since the last time: the thread is woken */
    LOG_PAGES_MAX = 8 * STEP_PAGES /* here the writer does it itself */
};

struct mover {
    sqlite3 *writer;  /* borrowed */
    char *path;       /* owned */
    int seen_pages;   /* of the writer: how long the log was when the thread was woken last */
    sqlite3 *db;      /* of the thread; owned; NULL before its first use */
    pthread_t thread; /* runs while started */
    bool started;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool wanted; /* under lock, as those that follow */
    bool moving; /* the thread is at it */
    bool ending;
};

/* ---- the thread */

/* A move that fails now is tried again when the log has grown, and in the end by the writer, whose
 * commits say what is wrong with the disk. So nobody has to hear of it here. */
static void move(struct mover *m)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    if (m->db == NULL && sqlite3_open_v2(m->path, &m->db, flags, NULL) != SQLITE_OK) {
        sqlite3_close(m->db);
        m->db = NULL;
    }
    if (m->db != NULL) /* the call of that name would do nothing before something was read */
        (void)sqlite3_exec(m->db, "PRAGMA wal_checkpoint(PASSIVE)", NULL, NULL, NULL);
}

static void *serve(void *arg)
{
    struct mover *m = arg;
    pthread_setname_np(pthread_self(), "mover");
    pthread_mutex_lock(&m->lock);
    while (!m->ending) {
        if (!m->wanted) {
            pthread_cond_wait(&m->changed, &m->lock);
            continue;
        }
        m->wanted = false;
        m->moving = true;
        pthread_mutex_unlock(&m->lock);
        move(m);
        pthread_mutex_lock(&m->lock);
        m->moving = false;
        pthread_cond_signal(&m->changed);
    }
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

static void tell(struct mover *m, bool *what)
{
    pthread_mutex_lock(&m->lock);
    *what = true;
    pthread_cond_signal(&m->changed);
    pthread_mutex_unlock(&m->lock);
}

/* ---- the writer */

/* With the thread kept away: at the end of this all is moved, unless somebody still reads what is
 * old. */
static void move_rest(struct mover *m, const char *name)
{
    pthread_mutex_lock(&m->lock);
    while (m->moving)
        pthread_cond_wait(&m->changed, &m->lock);
    (void)sqlite3_wal_checkpoint_v2(m->writer, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    pthread_mutex_unlock(&m->lock);
}

/* After each commit. */
static int on_commit(void *arg, sqlite3 *writer, const char *name, int log_pages)
{
    struct mover *m = arg;
    (void)writer;
    if (log_pages < m->seen_pages)
        m->seen_pages = 0; /* it began anew */
    if (log_pages >= LOG_PAGES_MAX) {
        move_rest(m, name);
    } else if (log_pages - m->seen_pages >= STEP_PAGES) {
        m->seen_pages = log_pages;
        tell(m, &m->wanted);
    }
    return SQLITE_OK;
}

enum rc mover_start(sqlite3 *writer, const char *path, struct mover **ret_mover, struct err *err)
{
    struct mover *m = MEM_NEW(struct mover);
    m->writer = writer;
    m->path = mem_dup(path, strlen(path));
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->changed, NULL);

    /* It inherits the mask: signals are for the thread that waits for them. (loop/thread.h would do
     * the same; the store stands beside loop, not above it.) */
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&m->thread, NULL, serve, m);
    pthread_sigmask(SIG_SETMASK, &before, NULL);

    m->started = failed == 0;
    if (failed != 0) {
        mover_stop(m);
        return err_set(err, RC_IO, "cannot start thread mover: %s", strerror(failed));
    }
    sqlite3_wal_hook(writer, on_commit, m); /* in the place of SQLite's own */
    *ret_mover = m;
    return RC_OK;
}

void mover_stop(struct mover *m)
{
    if (m == NULL)
        return;
    if (m->started) {
        sqlite3_wal_hook(m->writer, NULL, NULL);
        tell(m, &m->ending);
        pthread_join(m->thread, NULL);
    }
    sqlite3_close(m->db);
    pthread_mutex_destroy(&m->lock);
    pthread_cond_destroy(&m->changed);
    free(m->path);
    free(m);
}

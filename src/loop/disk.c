#include "loop/disk.h"
#include "base/mem.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>

/* Whoever is last of the two frees it: the one that asks, or the one that has waited. */
struct question {
    disk_ask *ask;
    char *dir; /* owned */
    bool is_answered;
    bool is_given_up;
    int error; /* errno; 0: the answer is good */
    struct statvfs answer;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answered = PTHREAD_COND_INITIALIZER; /* some question was */
static size_t open_questions;

static void question_free(struct question *q)
{
    free(q->dir);
    free(q);
}

static void *put(void *arg)
{
    struct question *q = arg;
    struct statvfs answer;
    int error = q->ask(q->dir, &answer) == 0 ? 0 : errno;
    pthread_mutex_lock(&lock);
    q->answer = answer;
    q->error = error;
    q->is_answered = true;
    open_questions--;
    bool given_up = q->is_given_up;
    pthread_cond_broadcast(&answered);
    pthread_mutex_unlock(&lock);
    if (given_up)
        question_free(q);
    return NULL;
}

static bool begin(struct question *q)
{
    pthread_t id;
    sigset_t all;
    sigset_t before;
    sigfillset(&all); /* signals are for others, see thread.h */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool begun = pthread_create(&id, NULL, put, q) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (begun)
        pthread_detach(id);
    return begun;
}

/* Of a clock that nobody sets back, by an hour say, while a disk hangs. */
static struct timespec after(int64_t ms)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_nsec += ms % 1000 * 1000000;
    at.tv_sec += ms / 1000 + at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    return at;
}

/* True when it was answered; else it is the other thread's from now on. */
static bool wait_for(struct question *q, int64_t wait_ms)
{
    struct timespec until = after(wait_ms);
    int rc = 0;
    pthread_mutex_lock(&lock);
    while (!q->is_answered && rc != ETIMEDOUT)
        rc = pthread_cond_clockwait(&answered, &lock, CLOCK_MONOTONIC, &until);
    q->is_given_up = !q->is_answered;
    bool good = q->is_answered;
    pthread_mutex_unlock(&lock);
    return good;
}

static bool take_place(void)
{
    pthread_mutex_lock(&lock);
    bool free_place = open_questions < DISK_QUESTIONS_MAX;
    open_questions += free_place;
    pthread_mutex_unlock(&lock);
    return free_place;
}

static enum rc hangs(const char *dir, struct err *err)
{
    return err_set(err, RC_TIMEOUT, "the file system of %s does not answer", dir);
}

static enum rc read_answer(const struct question *q, struct disk_room *ret_room, struct err *err)
{
    const struct statvfs *fs = &q->answer;
    if (q->error != 0)
        return err_set(err, RC_IO, "%s: %s", q->dir, strerror(q->error));
    *ret_room = (struct disk_room){
        .free_bytes = (uint64_t)fs->f_bavail * fs->f_frsize,
        .all_bytes = (uint64_t)fs->f_blocks * fs->f_frsize,
        .files_free = fs->f_favail,
        .files_all = fs->f_files,
    };
    return RC_OK;
}

enum rc disk_look_by(disk_ask *ask, const char *dir, int64_t wait_ms, struct disk_room *ret_room,
                     struct err *err)
{
    if (!take_place())
        return hangs(dir, err);
    struct question *q = MEM_NEW(struct question);
    q->ask = ask;
    q->dir = mem_dup(dir, strlen(dir));
    if (!begin(q))
        (void)put(q); /* no thread can be had: then it is worth the risk */
    if (!wait_for(q, wait_ms))
        return hangs(dir, err);
    enum rc rc = read_answer(q, ret_room, err);
    question_free(q);
    return rc;
}

enum rc disk_look(const char *dir, struct disk_room *ret_room, struct err *err)
{
    return disk_look_by(statvfs, dir, DISK_WAIT_MS, ret_room, err);
}

#include "loop/mailbox.h"
#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct mailbox {
    pthread_mutex_t lock; /* guards what stands up to on_mail */
    pthread_cond_t came;
    struct list mails;
    size_t len;
    bool closed;

    mailbox_on_mail *on_mail; /* NULL: the receiver waits for `came` */
    void *arg;
    size_t max;
    uv_async_t async;
};

struct mailbox *mailbox_new(size_t max)
{
    struct mailbox *box = MEM_NEW(struct mailbox);
    list_init(&box->mails);
    box->max = max;
    pthread_mutex_init(&box->lock, NULL);

    /* The default clock of a condition is the wall clock, which somebody may set back an hour. */
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&box->came, &attr);
    pthread_condattr_destroy(&attr);
    return box;
}

static void on_async(uv_async_t *async)
{
    struct mailbox *box = async->data;
    box->on_mail(box->arg, box);
}

struct mailbox *mailbox_new_on_loop(uv_loop_t *loop, size_t max, mailbox_on_mail *on_mail,
                                    void *arg)
{
    struct mailbox *box = mailbox_new(max);
    box->on_mail = on_mail;
    box->arg = arg;
    int failed = uv_async_init(loop, &box->async, on_async);
    assert(failed == 0); /* no descriptors left at start: nothing can work */
    (void)failed;
    box->async.data = box;
    return box;
}

static void destroy(struct mailbox *box)
{
    pthread_cond_destroy(&box->came);
    pthread_mutex_destroy(&box->lock);
    free(box);
}

static void on_async_closed(uv_handle_t *handle)
{
    destroy(handle->data);
}

void mailbox_free(struct mailbox *box)
{
    if (box == NULL)
        return;
    assert(list_empty(&box->mails));
    if (box->on_mail != NULL)
        uv_close((uv_handle_t *)&box->async, on_async_closed);
    else
        destroy(box);
}

/* Outside the lock, so that the receiver does not wake up only to wait for it. */
static void wake(struct mailbox *box)
{
    if (box->on_mail != NULL)
        uv_async_send(&box->async);
    else
        pthread_cond_signal(&box->came);
}

static enum rc put(struct mailbox *box, struct mail *take_mail, size_t max)
{
    pthread_mutex_lock(&box->lock);
    enum rc rc = box->closed ? RC_SHUTDOWN : box->len >= max ? RC_BUSY : RC_OK;
    bool first = box->len == 0;
    if (rc == RC_OK) {
        list_push_back(&box->mails, &take_mail->node);
        box->len++;
    }
    pthread_mutex_unlock(&box->lock);
    if (rc == RC_OK && first)
        wake(box);
    return rc;
}

enum rc mailbox_send(struct mailbox *box, struct mail *take_mail)
{
    return put(box, take_mail, box->max);
}

enum rc mailbox_send_always(struct mailbox *box, struct mail *take_mail)
{
    return put(box, take_mail, SIZE_MAX);
}

void mailbox_close(struct mailbox *box)
{
    pthread_mutex_lock(&box->lock);
    box->closed = true;
    pthread_mutex_unlock(&box->lock);
    wake(box);
}

void mailbox_take_all(struct mailbox *box, struct list *into)
{
    pthread_mutex_lock(&box->lock);
    list_splice_back(into, &box->mails);
    box->len = 0;
    pthread_mutex_unlock(&box->lock);
}

/* False when the deadline has passed. */
static bool wait_once(struct mailbox *box, int64_t deadline_us)
{
    if (deadline_us == MAILBOX_FOREVER)
        return pthread_cond_wait(&box->came, &box->lock) == 0;
    struct timespec until = {.tv_sec = (time_t)(deadline_us / 1000000),
                             .tv_nsec = (long)(deadline_us % 1000000) * 1000};
    return pthread_cond_timedwait(&box->came, &box->lock, &until) != ETIMEDOUT;
}

enum rc mailbox_wait(struct mailbox *box, int64_t deadline_us)
{
    assert(box->on_mail == NULL);
    assert(deadline_us >= 0);
    pthread_mutex_lock(&box->lock);
    bool in_time = true;
    while (box->len == 0 && !box->closed && in_time)
        in_time = wait_once(box, deadline_us);
    enum rc rc = box->len > 0 ? RC_OK : box->closed ? RC_SHUTDOWN : RC_TIMEOUT;
    pthread_mutex_unlock(&box->lock);
    return rc;
}

size_t mailbox_len(struct mailbox *box)
{
    pthread_mutex_lock(&box->lock);
    size_t len = box->len;
    pthread_mutex_unlock(&box->lock);
    return len;
}

#include "server/call/queries.h"
#include "base/mem.h"
#include "loop/clock.h"
#include "loop/thread.h"
#include "server/call/represent.h"

#include <stdlib.h>

enum { LAST_WAIT_MS = 3000 }; /* for the store, when the server ends */

struct query_thread {
    struct reader *reader;
    struct mailbox *box;
    struct thread *thread;
};

struct queries {
    atomic_size_t next; /* whose turn it is */
    size_t count;
    struct query_thread threads[];
};

static void serve_one(struct query_thread *q, struct request *r)
{
    struct request_times *t = &r->times;
    times_book(t, SPENT_QUERY_WAIT, clock_mono_us());
    log_set_about(request_about, r);
    r->look(r, q->reader);
    log_set_about(NULL, NULL);
    times_book(t, SPENT_QUERY, clock_mono_us());
    t->away = SPENT_RETURN;
    if (r->form.by_look && r->rc == RC_OK) { /* here, where no connection waits for it */
        represent_body(r, SIZE_MAX);
        times_book(t, SPENT_PACK, clock_mono_us());
    }
    request_send_home(r);
}

static void serve(void *arg)
{
    struct query_thread *q = arg;
    struct list mail;
    list_init(&mail);
    while (mailbox_wait(q->box, MAILBOX_FOREVER) == RC_OK) {
        mailbox_take_all(q->box, &mail);
        for (struct list_node *node; (node = list_pop_front(&mail)) != NULL;) {
            struct mail *one = CONTAINER_OF(node, struct mail, node);
            struct request *r = CONTAINER_OF(one, struct request, parcel.mail);
            serve_one(q, r);
        }
    }
}

static enum rc start_one(struct server *server, struct query_thread *q, struct err *err)
{
    TRY(server->store->ops->reader(server->store, &q->reader, err));
    q->box = mailbox_new(server->options->mailbox_max);
    return thread_start("query", serve, q, &q->thread, err);
}

enum rc queries_start(struct server *server, struct queries **ret_queries, struct err *err)
{
    size_t count = server->options->query_threads;
    struct queries *q = mem_new(sizeof *q + count * sizeof q->threads[0]);
    q->count = count;
    for (size_t i = 0; i < count; i++) {
        enum rc rc = start_one(server, &q->threads[i], err);
        if (rc != RC_OK) {
            queries_stop(q);
            queries_free(q);
            return rc;
        }
    }
    *ret_queries = q;
    return RC_OK;
}

enum rc queries_send(struct queries *q, struct request *r)
{
    size_t i = atomic_fetch_add(&q->next, 1) % q->count;
    return mailbox_send(q->threads[i].box, &r->parcel.mail);
}

void queries_hurry(struct queries *q)
{
    for (size_t i = 0; i < q->count; i++)
        atomic_store(&q->threads[i].reader->until_ms, clock_boot_ms() + LAST_WAIT_MS);
}

void queries_stop(struct queries *q)
{
    for (size_t i = 0; i < q->count; i++) {
        struct query_thread *one = &q->threads[i];
        if (one->box != NULL)
            mailbox_close(one->box);
        thread_join(one->thread);
        one->thread = NULL;
    }
}

void queries_free(struct queries *q)
{
    for (size_t i = 0; i < q->count; i++) {
        mailbox_free(q->threads[i].box);
        if (q->threads[i].reader != NULL)
            q->threads[i].reader->ops->close(q->threads[i].reader);
    }
    free(q);
}

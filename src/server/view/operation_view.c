#include "server/view/operation_view.h"
#include "base/map.h"
#include "loop/clock.h"

enum {
    COUNT_US = 2000000, /* a query thread is one of two */
    COUNT_PAGE = 2000,  /* looked at between two looks at the clock */
};

/* ---- counting */

struct counting {
    const struct operation_rec *op;
    struct operation_count *found;
    struct map seen; /* jobs, which come once for each of their executions */
};

static void count_one(struct counting *c, uint64_t id)
{
    if (c->found->count < OPERATION_FIRST_MAX)
        c->found->first[c->found->count] = id;
    c->found->count++;
}

static bool count_live(void *arg, const struct job_rec *job, const struct exec_rec *exec)
{
    static char yes;
    struct counting *c = arg;
    bool jobs = operation_is_about_jobs(c->op->kind);
    if (!operation_takes(c->op, job, exec) || (jobs && map_get(&c->seen, job->id) != NULL))
        return true;
    if (jobs && exec->origin != ORIGIN_ONCE) /* others have one unfinished execution */
        map_put(&c->seen, job->id, &yes);
    count_one(c, jobs ? job->id : exec->id);
    return true;
}

static bool count_letter(void *arg, const struct letter_rec *letter)
{
    struct counting *c = arg;
    if (operation_takes_letter(c->op, letter))
        count_one(c, letter->place.exec_id);
    return true;
}

static enum rc count_page(struct reader *reader, struct counting *c, struct letter_place *at,
                          struct err *err)
{
    if (!operation_is_about_letters(c->op->kind))
        return reader->ops->live(reader, at->exec_id, COUNT_PAGE, operation_needs_document(c->op),
                                 count_live, c, &at->exec_id, err);
    struct letter_filter letters = operation_letters(c->op);
    return reader->ops->letters(reader, &letters, *at, COUNT_PAGE, count_letter, c, at, err);
}

enum rc operation_count(struct reader *reader, const struct operation_rec *op,
                        struct operation_count *ret_count, struct err *err)
{
    struct counting c = {.op = op, .found = ret_count};
    struct letter_place at = {0};
    int64_t until_us = clock_mono_us() + COUNT_US;
    enum rc rc = RC_OK;
    *ret_count = (struct operation_count){.count = 0};
    do {
        rc = count_page(reader, &c, &at, err);
        ret_count->at_least = at.exec_id != 0 && clock_mono_us() >= until_us;
    } while (rc == RC_OK && at.exec_id != 0 && !ret_count->at_least);
    map_free(&c.seen);
    return rc;
}

/* ---- beginning */

struct started {
    struct operation_rec *parts;
    size_t count;
};

static void look_started(struct request *r, struct reader *reader)
{
    struct started *started = ARENA_NEW(r->arena, struct started);
    r->own = started;
    r->rc = reader->ops->operations(reader, r->cmd.reply.operation_id, r->arena, &started->parts,
                                    &started->count, &r->err);
}

static void answer_started(struct request *r)
{
    const struct started *started = r->own;
    struct json_writer w = request_writer(r);
    if (started->count > 0) {
        operation_print(&w, started->parts, started->count, true);
    } else { /* asked for again so much later that it is forgotten */
        json_open(&w);
        json_put_id(&w, "operation_id", ID_OPERATION, r->cmd.reply.operation_id);
        json_close(&w);
    }
    request_answer_body(r, 202);
}

static void begun(struct request *r)
{
    r->form.is_replayed = r->cmd.once.replayed;
    request_to_query_first(r, look_started, answer_started);
}

void operation_begin(struct request *r)
{
    request_to_turn_as(r, CMD_OPERATE, begun);
}

#include "dump.h"

#include "base/test/test.h"
#include "base/vec.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct dump {
    struct arena arena;
    VEC(struct str) lines;
    struct err err;
};

/* Adds a line; texts in it may have line ends of their own. */
static void add(struct dump *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct dump *d, const char *format, ...)
{
    char text[16384];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    assert_true(len >= 0 && (size_t)len < sizeof text);
    for (int i = 0; i < len; i++)
        text[i] = text[i] == '\n' ? '|' : text[i];
    *VEC_PUSH(&d->arena, &d->lines) = arena_str(&d->arena, str_of(text, (size_t)len));
}

static void must(struct dump *d, enum rc rc)
{
    if (rc != RC_OK)
        fail_msg("cannot read the store: %s", d->err.text);
}

/* ---- jobs and executions */

static void add_job(struct dump *d, struct reader *reader, uint64_t id)
{
    struct job_rec j;
    must(d, reader->ops->job(reader, id, &d->arena, &j, &d->err));
    add(d,
        "job %" PRIu64 " v%" PRIu32 " state %d name %.*s queue %.*s owner %.*s tags %.*s priority "
        "%" PRId32 " created %" PRId64 " finished %" PRId64 " last %" PRIu64
        " spec %.*s payload %zu %.40s trail %.*s",
        j.id, j.version, j.state, STR_ARG(j.name), STR_ARG(j.queue), STR_ARG(j.owner),
        STR_ARG(j.tags), j.priority, j.created_ms, j.finished_ms, j.last_exec, STR_ARG(j.spec),
        j.payload.len, j.payload.len > 40 ? j.payload.ptr : "", STR_ARG(j.trail));
}

static void add_attempt(struct dump *d, const struct attempt_rec *a)
{
    add(d,
        "attempt %" PRIu64 " token %" PRIu64 " number %" PRIu32 " worker %" PRIu64 " from %" PRId64
        " to %" PRId64 " outcome %d exit %" PRId32 " error %.*s class %d print %" PRIu64
        " tail %.*s",
        a->exec_id, a->token, a->number, a->worker_id, a->started_ms, a->ended_ms, a->outcome,
        a->usage.exit_code, STR_ARG(a->error), a->class, a->fingerprint, STR_ARG(a->tail));
}

static void add_exec(struct dump *d, struct reader *reader, uint64_t id)
{
    struct exec_rec x;
    struct attempt_rec *attempts;
    size_t count;
    must(d, reader->ops->exec(reader, id, &d->arena, &x, &attempts, &count, &d->err));
    add(d,
        "exec %" PRIu64 " job %" PRIu64 " state %d queue %.*s retry_of %" PRIu64 " slot %" PRId64
        " created %" PRId64 " due %" PRId64 " ready %" PRId64 " started %" PRId64
        " finished %" PRId64 " attempts %" PRIu32 " lost %" PRIu32 " token %" PRIu64
        " worker %" PRIu64 " result %.*s error %.*s trail %.*s",
        x.id, x.job_id, x.state, STR_ARG(x.queue), x.retry_of, x.slot_ms, x.created_ms, x.due_ms,
        x.ready_ms, x.started_ms, x.finished_ms, x.attempts, x.lost, x.token, x.worker_id,
        STR_ARG(x.result), STR_ARG(x.error), STR_ARG(x.trail));
    for (size_t i = 0; i < count; i++)
        add_attempt(d, &attempts[i]);
}

static void add_read(struct dump *d, struct store *store)
{
    static const struct filter all = {0};
    struct page page = {.limit = 7}; /* several pages: lists are part of what is compared */
    struct job_page jobs;
    struct exec_page execs;
    struct reader *reader;
    must(d, store->ops->reader(store, &reader, &d->err));
    do {
        must(d, reader->ops->jobs(reader, &all, &page, &d->arena, &jobs, &d->err));
        for (size_t i = 0; i < jobs.count; i++)
            add_job(d, reader, jobs.jobs[i].id);
        page.before = jobs.next;
    } while (page.before != 0);
    do {
        must(d, reader->ops->execs(reader, &all, &page, &d->arena, &execs, &d->err));
        for (size_t i = 0; i < execs.count; i++)
            add_exec(d, reader, execs.execs[i].id);
        page.before = execs.next;
    } while (page.before != 0);
    reader->ops->close(reader);
}

/* ---- what a start loads */

static enum rc load_job(void *arg, const struct job_rec *job, struct err *err)
{
    (void)err;
    add(arg, "loads job %" PRIu64 " state %d", job->id, job->state);
    return RC_OK;
}

static enum rc load_exec(void *arg, const struct exec_rec *exec, struct err *err)
{
    (void)err;
    add(arg, "loads exec %" PRIu64 " state %d token %" PRIu64, exec->id, exec->state, exec->token);
    return RC_OK;
}

static enum rc load_worker(void *arg, const struct worker_rec *w, struct err *err)
{
    (void)err;
    add(arg, "worker %" PRIu64 " name %.*s handlers %.*s slots %" PRIu32 " draining %d", w->id,
        STR_ARG(w->name), STR_ARG(w->handlers), w->slots, w->draining);
    return RC_OK;
}

static enum rc load_counter(void *arg, const struct counter *c, struct err *err)
{
    (void)err;
    if (c->value == 0) /* as good as none */
        return RC_OK;
    add(arg, "counter %d %.*s %" PRIu32 " = %" PRId64, c->kind, STR_ARG(c->queue), c->state,
        c->value);
    return RC_OK;
}

/* ---- the rest */

static void add_keys(struct dump *d, struct store *store)
{
    struct key_rec *keys;
    size_t count;
    must(d, store->ops->keys(store, &d->arena, &keys, &count, &d->err));
    for (size_t i = 0; i < count; i++)
        add(d, "key %" PRIu64 " %.*s", keys[i].id, STR_ARG(keys[i].name));
}

/* Whether a key is taken is found out by taking it, and then not going on with that turn. */
static void add_claim(struct dump *d, struct store *store, const struct ownership *own,
                      struct str key)
{
    struct question question = {.kind = ASK_CLAIM,
                                .claim = {.kind = CLAIM_NAME, .key = key, .holder = 1}};
    struct question *questions[] = {&question};
    must(d, store->ops->admit(store, own, questions, 1, &d->arena, &d->err));
    store->ops->abort(store);
    add(d, "claim %.*s of %" PRIu64, STR_ARG(key), question.answer.holder);
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

void dump_store(struct store *store, const struct ownership *own, const struct str *keys,
                size_t key_count, struct buf *out)
{
    struct dump d = {0};
    struct load_sink sink = {
        .job = load_job,
        .exec = load_exec,
        .worker = load_worker,
        .counter = load_counter,
        .arg = &d,
    };
    add_read(&d, store);
    must(&d, store->ops->load(store, own, INT64_MAX, &sink, &d.err));
    add_keys(&d, store);
    for (size_t i = 0; i < key_count; i++)
        add_claim(&d, store, own, keys[i]);
    qsort(d.lines.items, d.lines.len, sizeof *d.lines.items, by_text);
    for (size_t i = 0; i < d.lines.len; i++) {
        buf_add(out, d.lines.items[i]);
        buf_add_char(out, '\n');
    }
    arena_free(&d.arena);
}

#include "engine/test/delta_text.h"

#include "base/vec.h"

#include <inttypes.h>
#include <string.h>

struct printer {
    struct buf *out;
    struct arena *arena;
    uint64_t newest_id; /* larger ones are new */
    VEC(uint64_t) fresh;
};

static void print_id(struct printer *p, const char *what, uint64_t id)
{
    size_t i = 0;
    if (id <= p->newest_id) {
        buf_printf(p->out, " %s=%" PRIu64, what, id);
        return;
    }
    while (i < p->fresh.len && p->fresh.items[i] != id)
        i++;
    if (i == p->fresh.len)
        *VEC_PUSH(p->arena, &p->fresh) = id;
    buf_printf(p->out, " %s=new%zu", what, i);
}

/* A record may name something that is new in this turn: "exec_" or "job_", and 13 characters. */
static struct str without_ids(struct arena *arena, struct str text)
{
    char *copy = arena_bytes(arena, text.len);
    if (text.len > 0)
        memcpy(copy, text.ptr, text.len);
    for (size_t i = 0; i + 17 <= text.len; i++) {
        if (i + 18 <= text.len && memcmp(copy + i, "exec_", 5) == 0)
            memset(copy + i + 5, '*', 13);
        else if (memcmp(copy + i, "job_", 4) == 0)
            memset(copy + i + 4, '*', 13);
    }
    return str_of(copy, text.len);
}

static void print_job(struct printer *p, const struct job_change *change)
{
    const struct job_rec *j = &change->job;
    buf_printf(p->out, "job %d%s", (int)change->kind, change->redefined ? " redefined" : "");
    print_id(p, "id", j->id);
    print_id(p, "last", j->last_exec);
    buf_printf(p->out,
               " v%" PRIu32 " %d name=%.*s %.*s %.*s %.*s p%" PRId32 " %" PRId64 " %" PRId64
               " %.*s %.*s\n%.*s",
               j->version, (int)j->state, STR_ARG(j->name), STR_ARG(j->queue), STR_ARG(j->owner),
               STR_ARG(j->tags), j->priority, j->created_ms, j->finished_ms, STR_ARG(j->spec),
               STR_ARG(j->payload), STR_ARG(without_ids(p->arena, change->step)));
}

static void print_exec(struct printer *p, const struct exec_change *change)
{
    const struct exec_rec *x = &change->exec;
    buf_printf(p->out, "exec %d%s", (int)change->kind, change->moved ? " moved" : "");
    print_id(p, "id", x->id);
    print_id(p, "job", x->job_id);
    print_id(p, "of", x->retry_of);
    print_id(p, "worker", x->worker_id);
    buf_printf(p->out,
               " %d %.*s p%" PRId32 " slot=%" PRId64 " created=%" PRId64 " due=%" PRId64
               " ready=%" PRId64 " started=%" PRId64 " finished=%" PRId64 " %" PRIu32 "+%" PRIu32
               "+%" PRIu32 "+%" PRIu32 ",%d late=%d sla=%" PRId64 "+%" PRId64 ",%" PRIu32
               " token=%" PRIu64 " done=%d charged=%d,%.*s trace=%.*s result=%.*s error=%.*s\n%.*s",
               (int)x->state, STR_ARG(x->queue), x->priority, x->slot_ms, x->created_ms, x->due_ms,
               x->ready_ms, x->started_ms, x->finished_ms, x->attempts, x->lost, x->returned,
               x->unseen, x->proven, x->late, x->sla_since_ms, x->sla_extra_ms, x->sla_marks,
               x->token, x->effect_done, x->recharged, STR_ARG(x->charged), STR_ARG(x->trace),
               STR_ARG(x->result), STR_ARG(without_ids(p->arena, x->error)),
               STR_ARG(without_ids(p->arena, change->step)));
}

static void print_attempt(struct printer *p, const struct attempt_rec *a)
{
    buf_printf(p->out, "attempt");
    print_id(p, "of", a->exec_id);
    print_id(p, "worker", a->worker_id);
    buf_printf(p->out,
               " token=%" PRIu64 " number=%" PRIu32 " %" PRId64 "-%" PRId64 " %d exit=%" PRId32
               " log=%" PRIu64 " %.*s\n",
               a->token, a->number, a->started_ms, a->ended_ms, (int)a->outcome, a->usage.exit_code,
               a->usage.log_seq, STR_ARG(a->error));
}

static void print_worker(struct printer *p, const struct worker_change *change)
{
    const struct worker_rec *w = &change->worker;
    buf_printf(p->out, "worker %d", change->forget);
    print_id(p, "id", w->id);
    print_id(p, "replaces", w->replaces);
    buf_printf(p->out, " %.*s %.*s %.*s %.*s %d %d %" PRIu32 " %" PRId64 "\n", STR_ARG(w->name),
               STR_ARG(w->boot_id), STR_ARG(w->queues), STR_ARG(w->handlers), w->runs_commands,
               w->draining, w->slots, w->registered_ms);
    if (w->cordoned_ms > 0)
        buf_printf(p->out, "cordoned %" PRId64 " %.*s %.*s\n", w->cordoned_ms,
                   STR_ARG(w->cordoned_by), STR_ARG(w->cordon_reason));
}

static void print_sla_events(struct printer *p, const struct delta *d)
{
    for (size_t i = 0; i < d->sla_event_count; i++) {
        const struct sla_event_rec *event = &d->sla_events[i];
        buf_printf(p->out, "sla %d", (int)event->kind);
        print_id(p, "of", event->exec_id);
        buf_printf(p->out, " %" PRId64 " %" PRId64 " %" PRId64 "\n", event->actual_ms,
                   event->expected_ms, event->max_ms);
    }
}

static void print_dependencies(struct printer *p, const struct delta *d)
{
    for (size_t i = 0; i < d->dependency_count; i++) {
        buf_add(p->out, STR("dependency"));
        print_id(p, "of", d->dependencies[i].dependant);
        print_id(p, "on", d->dependencies[i].upstream);
        buf_printf(p->out, " %d %d\n", (int)d->dependencies[i].type, (int)d->dependencies[i].state);
    }
}

/* What goes to other partitions, and what came from there. */
static void print_mail(struct printer *p, const struct delta *d)
{
    for (size_t i = 0; i < d->mail_count; i++) {
        const struct inbox_rec *m = &d->mail[i];
        buf_printf(p->out, "mail %.*s", STR_ARG(inbox_kind_name(m->kind)));
        print_id(p, "about", m->about);
        print_id(p, "from", m->from);
        buf_printf(p->out, " %" PRId64 " %" PRId64 " %.*s %.*s\n",
                   m->kind == INBOX_ASK || m->kind == INBOX_GRANT ? 0 : m->value, m->number,
                   STR_ARG(without_ids(p->arena, m->name)), STR_ARG(m->body));
    }
    for (size_t i = 0; i < d->mail_read_count; i++)
        buf_printf(p->out, "read %" PRIu64 "\n", d->mail_read[i]);
    for (size_t i = 0; i < d->waiter_count; i++) {
        const struct waiter_rec *rec = &d->waiters[i].waiter;
        buf_printf(p->out, "waiter %d %" PRIu64 " %" PRIu64 " %d %" PRId64 "\n",
                   d->waiters[i].forget, rec->upstream, rec->exec_id, (int)rec->type, rec->slot_ms);
    }
    for (size_t i = 0; i < d->permit_count; i++) {
        const struct permit_rec *rec = &d->permits[i].permit;
        buf_printf(p->out, "permit %d %.*s", d->permits[i].forget, STR_ARG(rec->key));
        print_id(p, "for", rec->exec_id);
        buf_printf(p->out, " %d %" PRId64 " %" PRId64 "\n", rec->granted, rec->max, rec->rank);
    }
    for (size_t i = 0; i < d->rejected_count; i++)
        buf_printf(p->out, "rejected %.*s: %.*s\n", STR_ARG(d->rejected[i].head),
                   STR_ARG(d->rejected[i].reason));
}

static void print_letters(struct printer *p, const struct delta *d)
{
    for (size_t i = 0; i < d->letter_count; i++) {
        const struct letter_rec *l = &d->letters[i];
        buf_add(p->out, STR("letter"));
        print_id(p, "of", l->place.exec_id);
        buf_printf(p->out, " %" PRId64 " %d %d %d %" PRIx64 " %.*s: %.*s\n", l->place.died_ms,
                   (int)l->state, (int)l->reason, (int)l->class, l->fingerprint, STR_ARG(l->line),
                   STR_ARG(l->error));
    }
    for (size_t i = 0; i < d->letter_gone_count; i++)
        buf_printf(p->out, "letter gone %" PRIu64 "\n", d->letters_gone[i].exec_id);
    for (size_t i = 0; i < d->operation_gone_count; i++)
        buf_add(p->out, STR("operation gone\n"));
    for (size_t i = 0; i < d->operation_count; i++) {
        const struct operation_rec *op = &d->operations[i].operation;
        buf_add(p->out, STR("operation"));
        print_id(p, "id", op->id);
        buf_printf(p->out, " %d %d %" PRIu64 " %" PRIu64 " %" PRId64 " %.*s\n", (int)op->kind,
                   (int)op->state, op->done, op->refused, op->at.died_ms, STR_ARG(op->refusal));
    }
}

static void print_calendars(struct printer *p, const struct delta *d)
{
    for (size_t i = 0; i < d->calendar_count; i++) {
        const struct calendar_rec *rec = &d->calendars[i].calendar;
        buf_printf(p->out, "calendar %d %.*s v%" PRIu32 " %.*s %.*s\n", d->calendars[i].forget,
                   STR_ARG(rec->name), rec->version, STR_ARG(rec->document),
                   STR_ARG(rec->changed_by));
    }
    for (size_t i = 0; i < d->calendar_use_count; i++) {
        buf_printf(p->out, "use %d %.*s", d->calendar_uses[i].forget,
                   STR_ARG(d->calendar_uses[i].calendar));
        print_id(p, "by", d->calendar_uses[i].job_id);
        buf_add_char(p->out, '\n');
    }
}

static void print_counter(struct printer *p, const struct counter *c)
{
    buf_printf(p->out, "count %d %.*s %" PRIu32 " %+" PRId64 " in %" PRIu32 "\n", (int)c->kind,
               STR_ARG(c->queue), c->state, c->value, c->partition);
}

static void print_claims_and_counters(struct printer *p, const struct delta *d)
{
    for (size_t i = 0; i < d->released_count; i++) {
        buf_printf(p->out, "release %.*s", STR_ARG(d->released[i].key));
        print_id(p, "holder", d->released[i].holder);
        buf_add_char(p->out, '\n');
    }
    for (size_t i = 0; i < d->claim_count; i++) {
        buf_printf(p->out, "claim %d %.*s", (int)d->claims[i].kind, STR_ARG(d->claims[i].key));
        print_id(p, "holder", d->claims[i].holder);
        buf_printf(p->out, " %" PRId64 "\n", d->claims[i].until_ms);
    }
    for (size_t i = 0; i < d->counter_count; i++)
        print_counter(p, &d->counters[i]);
    for (size_t i = 0; i < d->queue_gone_count; i++)
        buf_printf(p->out, "queue %.*s gone %d\n", STR_ARG(d->queues_gone[i].name),
                   (int)d->queues_gone[i].settings);
}

void print_delta(struct buf *out, struct arena *arena, const struct delta *d, uint64_t newest_id)
{
    struct printer p = {.out = out, .arena = arena, .newest_id = newest_id};
    buf_printf(out, "turn %" PRIu64 "\n", d->turn);
    for (size_t i = 0; i < d->job_count; i++)
        print_job(&p, &d->jobs[i]);
    for (size_t i = 0; i < d->exec_count; i++)
        print_exec(&p, &d->execs[i]);
    for (size_t i = 0; i < d->attempt_count; i++)
        print_attempt(&p, &d->attempts[i]);
    print_sla_events(&p, d);
    for (size_t i = 0; i < d->worker_count; i++)
        print_worker(&p, &d->workers[i]);
    print_dependencies(&p, d);
    print_mail(&p, d);
    print_letters(&p, d);
    for (size_t i = 0; i < d->forgotten_count; i++)
        buf_printf(out, "forgotten %" PRIu64 "\n", d->forgotten[i]);
    for (size_t i = 0; i < d->alert_gone_count; i++)
        buf_printf(out, "alert gone %" PRIu64 "\n", d->alerts_gone[i]);
    for (size_t i = 0; i < d->alert_ack_count; i++)
        buf_printf(out, "ack %" PRIu64 " %.*s %.*s\n", d->alert_acks[i].id,
                   STR_ARG(d->alert_acks[i].by), STR_ARG(d->alert_acks[i].note));
    for (size_t i = 0; i < d->silence_count; i++)
        buf_printf(out, "silence %d %.*s until %" PRId64 "\n", d->silences[i].forget,
                   STR_ARG(d->silences[i].silence.key), d->silences[i].silence.until_ms);
    buf_printf(out, "%zu tallies, %zu gone\n", d->tally_count, d->tally_gone_count);
    print_calendars(&p, d);
    print_claims_and_counters(&p, d);
}

#include "base/mem.h"
#include "base/plant.h"
#include "job/record/delta_ids.h"
#include "store/mem/mem.h"
#include "store/mem/rows.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- first: does the delta fit what is stored? */

/* The state that the changes looked at so far would leave behind, on top of the stored tables. */
struct preview {
    const struct mem_store *m;
    struct map jobs;  /* id -> anything: the delta adds it */
    struct map execs; /* id -> &is_live or &is_gone */
};

static char is_live, is_gone;

static void preview_free(struct preview *p)
{
    map_free(&p->jobs);
    map_free(&p->execs);
}

static enum rc job_fits(struct preview *p, const struct job_change *change, struct err *err)
{
    uint64_t id = change->job.id;
    bool exists = map_get(&p->m->jobs, id) != NULL || map_get(&p->jobs, id) != NULL;
    assert(change->kind == CHANGE_INSERT || change->kind == CHANGE_UPDATE);
    if (exists != (change->kind == CHANGE_UPDATE))
        return err_set(err, RC_CONFLICT, "job %" PRIu64 " %s", id,
                       exists ? "exists already" : "does not exist");
    map_put(&p->jobs, id, &is_live);
    return RC_OK;
}

static enum rc exec_fits(struct preview *p, const struct exec_change *change, struct err *err)
{
    uint64_t id = change->exec.id;
    const void *now = map_get(&p->execs, id);
    if (now == NULL && map_get(&p->m->live, id) != NULL)
        now = &is_live;
    if (now == NULL && map_get(&p->m->history, id) != NULL)
        now = &is_gone;
    bool is_new = change->kind == CHANGE_INSERT || change->kind == CHANGE_RECORD;
    if (is_new && now != NULL)
        return err_set(err, RC_CONFLICT, "execution %" PRIu64 " exists already", id);
    if (!is_new && now != &is_live)
        return err_set(err, RC_CONFLICT, "execution %" PRIu64 " is not unfinished", id);
    bool ends = change->kind == CHANGE_FINISH || change->kind == CHANGE_RECORD;
    map_put(&p->execs, id, ends ? &is_gone : &is_live);
    return RC_OK;
}

static enum rc delta_fits(const struct mem_store *m, const struct delta *delta, struct err *err)
{
    CLEANUP(preview_free) struct preview p = {.m = m};
    for (size_t i = 0; i < delta->job_count; i++)
        TRY(job_fits(&p, &delta->jobs[i], err));
    for (size_t i = 0; i < delta->exec_count; i++)
        TRY(exec_fits(&p, &delta->execs[i], err));
    TRY(mem_calendars_fit(m, delta, err));
    return mem_mail_fits(m, delta, err);
}

/* ---- then: make it so. Nothing below can fail. */

/* The tables that a delta is applied to: those of the handle, or those that follow them. */
struct applying {
    const struct mem_handle *h;
    struct mem_store *m;
    const struct ownership *own;
};

void mem_raise_newest(struct mem_store *m, uint64_t id)
{
    struct mem_partition *p = &m->partitions[partition_of(m->partition_count, id)];
    if (id > p->newest_id)
        p->newest_id = id;
}

static void apply_job(const struct applying *a, const struct job_change *change)
{
    struct mem_store *m = a->m;
    const struct job_rec *to = &change->job;
    struct job_rec *job = map_get(&m->jobs, to->id);
    if (job == NULL) {
        struct job_rec fresh = *to;
        fresh.trail = change->step;
        map_put(&m->jobs, to->id, kept_job(&fresh));
        return;
    }
    kept_record_take(&job_row_fields, FIELD_PROGRESS | FIELD_END, job, to);
    if (change->redefined)
        kept_record_take(&job_row_fields, FIELD_EDIT | FIELD_DOCUMENT | FIELD_BULK, job, to);
    kept_text_append(&job->trail, change->step);
}

static void apply_version(const struct applying *a, const struct version_change *change)
{
    mem_keep_version(a->m, change);
}

static const struct exec_rec no_exec;

static void insert_exec(struct mem_store *m, const struct exec_change *change)
{
    struct exec_rec fresh = change->exec;
    bool ended = change->kind == CHANGE_RECORD;
    fresh.trail = change->step;
    fields_take(&exec_fields, ended ? FIELD_MARK : FIELD_END | FIELD_BULK, &fresh, &no_exec);
    map_put(ended ? &m->history : &m->live, fresh.id, kept_exec(&fresh));
}

static void update_exec(struct mem_store *m, const struct exec_change *change)
{
    const struct exec_rec *to = &change->exec;
    struct exec_rec *exec = map_get(&m->live, to->id);
    bool ends = change->kind == CHANGE_FINISH;
    kept_record_take(&exec_fields, FIELD_PROGRESS, exec, to);
    kept_record_take(&exec_fields, FIELD_MARK, exec, ends ? &no_exec : to);
    exec->recharged = to->recharged;
    kept_text_set(&exec->charged, to->charged);
    kept_text_append(&exec->trail, change->step);
    if (to->error.len > 0 || ends) /* else the last one is still true */
        kept_record_take(&exec_fields, FIELD_ERROR, exec, to);
    if (change->moved)
        kept_record_take(&exec_fields, FIELD_MOVED, exec, to);
    if (!ends)
        return;
    kept_record_take(&exec_fields, FIELD_END | FIELD_BULK, exec, to);
    map_remove(&m->live, to->id);
    map_put(&m->history, to->id, exec);
}

static void apply_exec(const struct applying *a, const struct exec_change *change)
{
    if (change->kind == CHANGE_INSERT || change->kind == CHANGE_RECORD)
        insert_exec(a->m, change);
    else
        update_exec(a->m, change);
}

/* Makes room for a token, in the order of tokens. One that is there already gives up its place. */
static struct attempt_rec *attempt_place(struct attempt_list *list, uint64_t token)
{
    size_t at = list->count;
    while (at > 0 && list->attempts[at - 1].token > token)
        at--;
    if (at > 0 && list->attempts[at - 1].token == token) {
        kept_texts_free(&attempt_fields, &list->attempts[at - 1]);
        return &list->attempts[at - 1];
    }
    list->attempts = kept_rows_grow(list->attempts, list->count, sizeof *list->attempts);
    for (size_t i = list->count++; i > at; i--)
        list->attempts[i] = list->attempts[i - 1];
    return &list->attempts[at];
}

static void apply_attempt(const struct applying *a, const struct attempt_rec *attempt)
{
    struct mem_store *m = a->m;
    struct attempt_list *list = map_get(&m->attempts, attempt->exec_id);
    if (list == NULL) {
        list = MEM_NEW(struct attempt_list);
        map_put(&m->attempts, attempt->exec_id, list);
    }
    struct attempt_rec *place = attempt_place(list, attempt->token);
    *place = *attempt;
    kept_texts(&attempt_fields, place);
}

static void apply_released(const struct applying *a, const struct claim *released)
{
    struct mem_store *m = a->m;
    const struct claim *claim = strmap_get(&m->claims[released->kind], released->key);
    if (claim == NULL || claim->holder != released->holder)
        return;
    kept_claim_free(mem_claim_remove(m, released->kind, released->key));
}

static void put_claim(struct mem_store *m, const struct claim *claim)
{
    kept_claim_free(mem_claim_remove(m, claim->kind, claim->key));
    mem_claim_put(m, kept_claim(claim));
}

/* The one that ended first, of requests or of all; of those that ended together, the first by kind
 * and key. */
static struct claim *oldest_ended(const struct mem_handle *h, struct mem_store *m, int64_t now_ms,
                                  bool all)
{
    struct claim *oldest = NULL;
    for (size_t kind = 0; kind < CLAIM_KINDS; kind++) {
        for (size_t i = 0; i < m->claims[kind].cap && (all || kind == CLAIM_REQUEST); i++) {
            struct claim *claim = m->claims[kind].slots[i].value;
            if (claim == NULL || claim->until_ms == 0 || claim->until_ms > now_ms ||
                mem_claim_is_taken(h, claim->kind, claim->key))
                continue;
            if (oldest == NULL || claim->until_ms < oldest->until_ms ||
                (claim->until_ms == oldest->until_ms && claim->kind == oldest->kind &&
                 str_cmp(claim->key, oldest->key) < 0))
                oldest = claim;
        }
    }
    return oldest;
}

static void sweep_claims(const struct mem_handle *h, struct mem_store *m, const struct delta *delta)
{
    struct claim *claim;
    bool all = delta_sweeps_claims(delta);
    size_t kept = all ? delta->claim_count : 0;
    for (size_t left = CLAIM_SWEEP + 2 * (h->taken_count + kept);
         left > 0 && (claim = oldest_ended(h, m, delta->claims_now_ms, all)) != NULL; left--)
        kept_claim_free(mem_claim_remove(m, claim->kind, claim->key));
}

static void apply_worker(const struct applying *a, const struct worker_change *change)
{
    struct mem_store *m = a->m;
    uint64_t id = change->worker.id;
    kept_worker_free(map_remove(&m->workers, id));
    if (change->forget)
        return;
    map_put(&m->workers, id, kept_worker(&change->worker));
}

static void apply_queue(const struct applying *a, const struct queue_rec *queue)
{
    struct mem_store *m = a->m;
    kept_queue_free(strmap_remove(&m->queues, queue->name));
    struct queue_rec *kept = kept_queue(queue);
    strmap_put(&m->queues, kept->name, kept);
}

static void apply_team(const struct applying *a, const struct team_rec *team)
{
    struct mem_store *m = a->m;
    kept_team_free(strmap_remove(&m->teams, team->name));
    struct team_rec *kept = kept_team(team);
    strmap_put(&m->teams, kept->name, kept);
}

static void apply_rate(const struct applying *a, const struct rate_change *change)
{
    struct mem_store *m = a->m;
    kept_rate_free(strmap_remove(&m->rates, change->rate.key));
    if (change->forget)
        return;
    struct rate_rec *kept = kept_rate(&change->rate);
    strmap_put(&m->rates, kept->key, kept);
}

static void apply_alert_mark(const struct applying *a, const struct alert_mark *mark)
{
    struct mem_store *m = a->m;
    struct alert_rec *alert = map_get(&m->alerts, mark->id);
    if (alert != NULL)
        alert->state = mark->state;
}

static void apply_alert_ack(const struct applying *a, const struct alert_ack *ack)
{
    const struct alert_rec acked = {
        .acked_ms = ack->at_ms, .acked_by = ack->by, .ack_note = ack->note};
    struct alert_rec *alert = map_get(&a->m->alerts, ack->id);
    if (alert != NULL)
        kept_record_take(&alert_fields, FIELD_EDIT, alert, &acked);
}

static void apply_silence(const struct applying *a, const struct silence_change *change)
{
    struct map *silences = &a->m->silences;
    kept_silence_free(map_remove(silences, change->silence.id));
    if (!change->forget)
        map_put(silences, change->silence.id, kept_silence(&change->silence));
}

/* Each server sees its own calls: the row is that of its lowest partition, which may have been
 * another when the row was put. */
static void apply_breaker(const struct applying *a, const struct breaker_rec *breaker)
{
    const struct ownership *own = a->own;
    struct mem_store *m = a->m;
    bool closed = breaker->state == BREAKER_CLOSED;
    for (uint32_t i = 0; i < own->partitions; i++) {
        if (own->epochs[i] == 0)
            continue;
        kept_breaker_free(strmap_remove(&m->breakers[i], breaker->target));
        if (closed)
            continue;
        struct breaker_rec *kept = kept_breaker(breaker);
        strmap_put(&m->breakers[i], kept->target, kept);
        return;
    }
}

static void apply_dependency(const struct applying *a, const struct dependency_rec *rec)
{
    struct mem_store *m = a->m;
    struct dependency_rec *kept = strmap_get(&m->dependencies, dependency_key(rec));
    if (kept != NULL) {
        kept->state = rec->state;
        return;
    }
    kept = mem_dup(rec, sizeof *rec);
    strmap_put(&m->dependencies, dependency_key(kept), kept);
}

/* The owner is its job's. */
static void apply_letter(const struct applying *a, const struct letter_rec *letter)
{
    struct mem_store *m = a->m;
    const struct job_rec *job = map_get(&m->jobs, letter->job_id);
    struct letter_rec whole = *letter;
    whole.owner = job == NULL ? STR("") : job->owner;
    kept_letter_free(map_remove(&m->letters, letter->place.exec_id));
    map_put(&m->letters, letter->place.exec_id, kept_letter(&whole));
}

static void apply_operation(const struct applying *a, const struct operation_change *change)
{
    struct mem_store *m = a->m;
    struct operation_rec whole = change->operation;
    struct map *rows = &m->operations[whole.partition];
    struct operation_rec *kept = map_get(rows, whole.id);
    if (change->progress && kept == NULL)
        return;
    if (change->progress) /* what it was born with stays */
        whole.ids = kept->ids;
    map_put(rows, whole.id, kept_operation(&whole));
    kept_operation_free(kept);
}

static void apply_operation_gone(const struct applying *a, const uint64_t *id)
{
    for (uint32_t i = 0; i < PARTITIONS_MAX; i++)
        kept_operation_free(map_remove(&a->m->operations[i], *id));
}

static void apply_calendar(const struct applying *a, const struct calendar_change *change)
{
    mem_apply_calendar(a->m, change);
}

static void apply_calendar_use(const struct applying *a, const struct calendar_use *use)
{
    mem_apply_calendar_use(a->m, use);
}

void mem_add_counter(struct mem_store *m, const struct counter *add)
{
    for (size_t i = 0; i < m->counter_count; i++) {
        struct counter *counter = &m->counters[i];
        if (counter->partition == add->partition && counter->kind == add->kind &&
            counter->state == add->state && str_eq(counter->queue, add->queue)) {
            counter->value += add->value;
            return;
        }
    }
    m->counters = kept_rows_grow(m->counters, m->counter_count, sizeof *m->counters);
    struct counter *row = &m->counters[m->counter_count++];
    *row = *add;
    row->queue = kept_text(add->queue);
}

static void apply_tally(const struct applying *a, const struct tally *add)
{
    struct mem_store *m = a->m;
    char bytes[TALLY_KEY_MAX];
    struct tally *row = strmap_get(&m->tallies, tally_name(add, bytes));
    if (row != NULL) {
        row->count += add->count;
        row->sum_ms += add->sum_ms;
        return;
    }
    row = kept_tally(add);
    strmap_put(&m->tallies, tally_name(row, (char *)(row + 1)), row);
}

static void apply_tally_gone(const struct applying *a, const struct tally *row)
{
    struct mem_store *m = a->m;
    char bytes[TALLY_KEY_MAX];
    kept_tally_free(strmap_remove(&m->tallies, tally_name(row, bytes)));
}

static void apply_letter_gone(const struct applying *a, const struct letter_place *place)
{
    kept_letter_free(map_remove(&a->m->letters, place->exec_id));
}

static void apply_claim(const struct applying *a, const struct claim *claim)
{
    put_claim(a->m, claim);
}

static void apply_sla_event(const struct applying *a, const struct sla_event_rec *event)
{
    map_put(&a->m->sla_events, event->id, kept_sla_event(event));
}

static void apply_alert(const struct applying *a, const struct alert_rec *alert)
{
    map_put(&a->m->alerts, alert->id, kept_alert(alert));
}

static void apply_counter(const struct applying *a, const struct counter *counter)
{
    mem_add_counter(a->m, counter);
}

static void apply_queue_gone(const struct applying *a, const struct queue_gone *gone)
{
    mem_forget_queue(a->m, a->own, gone);
}

static void apply_forgotten(const struct applying *a, const uint64_t *exec_id)
{
    mem_forget_exec(a->m, *exec_id);
}

static void apply_alert_gone(const struct applying *a, const uint64_t *id)
{
    kept_alert_free(map_remove(&a->m->alerts, *id));
}

static void apply_turn(const struct applying *a, const struct delta *delta)
{
    const struct mem_handle *h = a->h;
    struct mem_store *m = a->m;
    for (uint32_t i = 0; i < m->partition_count; i++) {
        if (a->own->epochs[i] != 0)
            m->partitions[i].turn = delta->turn;
    }
    m->settings_version += delta_has_settings(delta);
    mem_mark_kept(m, h->writer, delta->turn);
    m->mail_numbers = h->m->mail_numbers;
    if (delta->clock.at_ms != 0)
        m->clock_kept = delta->clock;
}

/* Claims that the turn took while it asked. */
static void apply_taken(const struct mem_handle *h, struct mem_store *m)
{
    for (size_t i = 0; i < h->taken_count; i++) {
        mem_raise_newest(m, h->taken[i].claim->holder);
        if (m != h->m)
            put_claim(m, h->taken[i].claim);
    }
}

/* What has an id, by its part of the delta; with and without a time (delta_ids.h). */
#define RAISE(one, many, id)                                                                       \
    for (size_t i = 0; i < delta->one##_count; i++)                                                \
        mem_raise_newest(m, delta->many[i].id);
#define RAISE_AT(one, many, id, at_ms) RAISE(one, many, id)

static void apply_ids(struct mem_store *m, const struct delta *delta)
{
    DELTA_IDS(RAISE_AT, RAISE)
}

#define APPLY(one, many, type, alone)                                                              \
    for (size_t i = 0; i < delta->one##_count; i++)                                                \
        apply_##one(a, &delta->many[i]);

static void apply_work(const struct applying *a, const struct delta *delta)
{
    DELTA_WORK(APPLY)
}

static void apply_letters(const struct applying *a, const struct delta *delta)
{
    DELTA_LETTERS(APPLY)
}

static void apply_claims(const struct applying *a, const struct delta *delta)
{
    apply_taken(a->h, a->m);
    DELTA_CLAIMS(APPLY)
    sweep_claims(a->h, a->m, delta);
}

static void apply_settings(const struct applying *a, const struct delta *delta)
{
    DELTA_SETTINGS(APPLY)
}

static void apply_mail(const struct applying *a, const struct delta *delta)
{
    mem_apply_inbox(a->m, delta);
}

static void apply_reports(const struct applying *a, const struct delta *delta)
{
    DELTA_REPORTS(APPLY)
}

static void apply_gone(const struct applying *a, const struct delta *delta)
{
    DELTA_GONE(APPLY)
}

#define APPLY_GROUP(name, list, part) apply_##name(&a, delta);

static void apply(const struct mem_handle *h, struct mem_store *m, const struct ownership *own,
                  const struct delta *delta)
{
    const struct applying a = {.h = h, .m = m, .own = own};
    apply_turn(&a, delta);
    apply_ids(m, delta);
    DELTA_GROUPS(APPLY_GROUP, )
}

enum rc mem_check_epochs(const struct mem_store *m, const struct ownership *own, struct err *err)
{
    if (PLANTED(epoch_unchecked))
        return RC_OK;
    for (uint32_t i = 0; i < m->partition_count; i++) {
        if (own->epochs[i] != 0 && own->epochs[i] != m->partitions[i].epoch)
            return err_set(err, RC_DEPOSED,
                           "partition %" PRIu32 " was taken by another server since epoch %" PRIu64,
                           i, own->epochs[i]);
    }
    return RC_OK;
}

enum rc mem_begin(struct mem_handle *h, const struct ownership *own, struct err *err)
{
    if (h->severed)
        return err_set(err, RC_IO, "the turn took too long and was ended");
    if (h->locked != 0)
        return RC_OK; /* no server could take a partition since */
    TRY(mem_check_epochs(h->m, own, err));
    TRY(mem_check_mark(h, err));
    h->locked = ownership_set(own).bits;
    return RC_OK;
}

static enum rc claims_fit(const struct mem_handle *h, const struct claim *claims, size_t count,
                          struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        if (mem_claim_is_taken(h, claims[i].kind, claims[i].key))
            return err_set(err, RC_BUSY, "another server is taking the same key");
    }
    return RC_OK;
}

static enum rc try_commit(struct mem_handle *h, const struct ownership *own,
                          const struct delta *delta, struct err *err)
{
    TRY(mem_begin(h, own, err));
    if (!PLANTED(share_lock_forgotten)) /* owning on this very handle may have come between */
        TRY(mem_check_epochs(h->m, own, err));
    TRY(claims_fit(h, delta->claims, delta->claim_count, err));
    return delta_fits(h->m, delta, err);
}

enum rc mem_commit(struct store *store, const struct ownership *own, const struct delta *delta,
                   struct err *err)
{
    struct mem_handle *h = handle_of(store);
    struct mem_store *m = h->m;
    enum rc rc = try_commit(h, own, delta, err);
    if (rc == RC_OK && (!delta_is_empty(delta) || delta->counter_count > 0 || h->taken_count > 0)) {
        pthread_mutex_lock(&m->lock);
        if (mem_standby(m) != NULL)
            apply(h, mem_standby(m), own, delta);
        apply(h, m, own, delta);
        for (size_t i = 0; i < h->taken_count; i++)
            kept_claim_free(h->taken[i].before);
        h->taken_count = 0; /* they stay, so nobody gives them back */
        mem_set_mark(h, delta->turn);
        mem_forget_marks(h);
        atomic_fetch_add(&h->commits, 1);
        pthread_mutex_unlock(&m->lock);
    }
    store->ops->abort(store); /* ends the turn: its locks, and after a failure its claims */
    return rc;
}

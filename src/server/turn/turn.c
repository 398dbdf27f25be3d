#include "server/turn/turn.h"
#include "base/id.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/plant.h"
#include "base/vec.h"
#include "job/command/command_facts.h"
#include "server/turn/bisect.h"
#include "server/turn/rules.h"
#include "server/turn/rules_memo.h"
#include "server/turn/sql_job.h"
#include "wire/json/json_scan.h"
#include "wire/message/calendar_json.h"
#include "wire/spec/spec_json.h"

#include <assert.h>
#include <stdlib.h>

enum {
    ASK_ROUNDS_MAX = 5, /* the engine needs four, and one to have none; more would be a bug */
    SETTLE_TRIES = 5,   /* each waits for locks by itself */
    MAIL_MS = 1000,     /* mail by others is read so soon without a wake-up, which is faster */
    /* Definitions in one reply to a poll: half of what a client takes. A job may have as much, so
     * one goes out in any case. */
    REPLY_BYTES_MAX = 32 << 20,
};

/* ---- loading */

/* Of the engine's callbacks. */
struct turn_reading {
    struct sql_job_rule rule; /* with the zones, as the options say */
    struct rules_memo memo;
};

static enum rc read_rules(void *arg, const struct job_rec *job, struct arena *arena,
                          struct rules *ret_rules, struct err *err)
{
    struct turn_reading *reading = arg;
    struct spec spec;
    TRY(rules_memo_read(&reading->memo, job->spec, arena, &spec, err));
    return rules_make(reading->rule.zones, &spec, arena, ret_rules, err);
}

static enum rc read_calendar(void *arg, const struct calendar_rec *rec, struct arena *arena,
                             struct almanac *ret_almanac, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0}; /* a document is larger than what it means */
    const struct turn_reading *reading = arg;
    const struct ical_zones zones = {.find = rules_zone, .arg = reading->rule.zones};
    struct almanac almanac;
    struct ical_facts facts;
    TRY(calendar_read(rec->document, &zones, &scratch, &almanac, &facts, err));
    /* Events are left out with a warning when a calendar is put, not behind its owner's back. */
    if (almanac.entry_count < rec->entry_count)
        return err_set(
            err, RC_INVALID, "%u of its %u entries cannot be read any more%s%.*s",
            rec->entry_count - almanac.entry_count, rec->entry_count,
            facts.warning_count > 0 ? ": " : "",
            STR_ARG(facts.warning_count > 0 ? facts.warnings.items[0].message : STR("")));
    almanac.calendar = calendar_copy(&almanac.calendar, arena);
    *ret_almanac = almanac;
    return RC_OK;
}

static enum rc read_submission(void *arg, const struct inbox_rec *rec, struct arena *arena,
                               struct submission *ret_item, struct err *err)
{
    const struct turn_reading *reading = arg;
    return sql_job_read(&reading->rule, rec, arena, ret_item, err);
}

/* Told once, when it is found, and counted; the row stays as it is for whoever looks into it. */
void turn_quarantine(struct turn *t, uint64_t exec_id, const char *why)
{
    char text[ID_TEXT_MAX];
    t->quarantined++;
    log_error("the row of an execution is corrupt; it is quarantined and not run", "execution_id",
              id_format(text, ID_EXEC, exec_id).ptr, "error", why, NULL);
}

/* One bad row must not keep a server from starting: it is left out, and somebody is told. The
 * executions of a job that was left out miss it, and are counted then. */
static enum rc load_job(void *arg, const struct job_rec *job, struct err *err)
{
    struct turn *t = arg;
    char text[ID_TEXT_MAX];
    if (engine_load_job(t->engine, job, err) != RC_OK)
        log_error("the row of a job is corrupt; the job was left out", "job_id",
                  id_format(text, ID_JOB, job->id).ptr, "error", err->text, NULL);
    return RC_OK;
}

static enum rc load_exec(void *arg, const struct exec_rec *exec, struct err *err)
{
    struct turn *t = arg;
    if (engine_load_exec(t->engine, exec, err) != RC_OK)
        turn_quarantine(t, exec->id, err->text);
    return RC_OK;
}

static void load_damaged(void *arg, uint64_t exec_id)
{
    turn_quarantine(arg, exec_id, "its row, or its job's, cannot be read");
}

/* Rows that the engine takes as they are. */
#define LOADER(name, record)                                                                       \
    static enum rc load_##name(void *arg, const record *rec, struct err *err)                      \
    {                                                                                              \
        (void)err;                                                                                 \
        engine_load_##name(((struct turn *)arg)->engine, rec);                                     \
        return RC_OK;                                                                              \
    }
LOADER(worker, struct worker_rec)
LOADER(cordon, struct worker_rec)
LOADER(counter, struct counter)
LOADER(queue, struct queue_rec)
LOADER(team, struct team_rec)
LOADER(rate, struct rate_rec)
LOADER(breaker, struct breaker_rec)
LOADER(permit, struct permit_rec)
LOADER(waiter, struct waiter_rec)
LOADER(dependency, struct dependency_rec)
LOADER(clock, struct clock_rec)
LOADER(operation, struct operation_rec)
LOADER(silence, struct silence_rec)

static enum rc load_calendar(void *arg, const struct calendar_rec *calendar, struct err *err)
{
    if (engine_load_calendar(((struct turn *)arg)->engine, calendar, err) != RC_OK)
        log_error("the row of a calendar is corrupt; schedules that go by it are held back",
                  "error", err->text, NULL);
    return RC_OK;
}

static struct load_sink sink_of(struct turn *t)
{
    return (struct load_sink){
        .job = load_job,
        .exec = load_exec,
        .worker = load_worker,
        .cordon = load_cordon,
        .counter = load_counter,
        .damaged = load_damaged,
        .queue = load_queue,
        .team = load_team,
        .rate = load_rate,
        .breaker = load_breaker,
        .dependency = load_dependency,
        .waiter = load_waiter,
        .permit = load_permit,
        .clock = load_clock,
        .operation = load_operation,
        .calendar = load_calendar,
        .silence = load_silence,
        .arg = t,
    };
}

static int64_t begin_load(struct turn *t, struct store *store, const struct ownership *owned,
                          const struct engine_options *options, struct moment now)
{
    *t = (struct turn){.store = store, .owned = *owned};
    struct engine_options with_rules = *options;
    with_rules.read_rules = read_rules;
    with_rules.read_calendar = read_calendar;
    with_rules.read_submission = read_submission;
    t->reading = MEM_NEW(struct turn_reading);
    t->reading->rule = (struct sql_job_rule){
        .zones = options->rules_arg,
        .payload_bytes_max = options->payload_bytes_max,
        .timeout_ms = options->timeout_default_ms,
        .document_bytes_max = options->document_bytes_max,
    };
    with_rules.rules_arg = t->reading;
    with_rules.mail_ms = store->ops->member == NULL ? 0 : MAIL_MS;
    t->engine = engine_new(&with_rules);
    int64_t until_ms =
        engine_load_begin(t->engine, now, ownership_set(owned), owned->id_floor, owned->turn_floor);
    engine_load_tokens(t->engine, owned->token_floor);
    if (store->ops->member != NULL)
        engine_load_terms(t->engine, owned->epochs, owned->unsure_until_ms, owned->alive_ms);
    return until_ms;
}

enum rc turn_load(struct turn *t, struct store *store, const struct ownership *owned,
                  const struct engine_options *options, struct moment now, struct err *err)
{
    int64_t until_ms = begin_load(t, store, owned, options, now);
    if (ownership_set(owned).bits == 0)
        return turn_settings(t, err);
    struct load_sink sink = sink_of(t);
    return store->ops->load(store, &t->owned, until_ms, &sink, err);
}

void turn_idle(struct turn *t, struct store *store, uint32_t partitions,
               const struct engine_options *options, struct moment now)
{
    (void)begin_load(t, store, &(struct ownership){.partitions = partitions}, options, now);
}

enum rc turn_open(struct turn *t, struct store *store, struct str node,
                  const struct engine_options *options, struct moment now, struct err *err)
{
    struct ownership owned;
    *t = (struct turn){.store = store};
    TRY(store->ops->own(store, node, &owned, err));
    return turn_load(t, store, &owned, options, now, err);
}

enum rc turn_settings(struct turn *t, struct err *err)
{
    struct load_sink sink = sink_of(t);
    engine_settings_begin(t->engine);
    TRY(t->store->ops->settings(t->store, &sink, err));
    engine_settings_end(t->engine);
    return RC_OK;
}

void turn_raise_floors(const struct turn *t, struct ownership *own)
{
    uint64_t id;
    uint64_t turn;
    engine_floors(t->engine, &id, &turn);
    ownership_raise(own, id, turn);
}

void turn_close(struct turn *t)
{
    engine_free(t->engine);
    if (t->reading != NULL)
        rules_memo_free(&t->reading->memo);
    free(t->reading);
    arena_free(&t->arena);
    arena_free(&t->kept);
    *t = (struct turn){0};
}

/* ---- whose it is */

static bool owns(const struct turn *t, uint64_t id)
{
    struct partition_set set = ownership_set(&t->owned);
    return partition_has(&set, id);
}

/* Settings are written whole, from what memory has of them. So one server writes them, the owner of
 * the first partition: else two that change different parts of one would undo each other. */
static bool keeps_settings(const struct turn *t)
{
    return t->owned.epochs[0] != 0;
}

bool turn_is_ours(const struct turn *t, const struct command *cmd)
{
    switch (command_place(cmd)) {
    case PLACE_OWNER: return owns(t, command_id(cmd));
    case PLACE_ANY_OWNER:
    case PLACE_ALL_OWNERS: return ownership_set(&t->owned).bits != 0;
    case PLACE_FIRST: return keeps_settings(t);
    case PLACE_ASKED:
    case PLACE_ALL: break;
    }
    return true;
}

/* ---- running */

/* Asks in rounds until nobody has a question left. *ret_admitted: a transaction is open. */
static enum rc ask(struct turn *t, struct command *const *commands, size_t count,
                   bool *ret_admitted, struct err *err)
{
    *ret_admitted = false;
    for (unsigned round = 0;; round++) {
        assert(round < ASK_ROUNDS_MAX);
        struct question_list list = {0};
        engine_ask_own(t->engine, round, &list);
        for (size_t i = 0; i < count; i++)
            engine_ask(t->engine, commands[i], round, &list);
        if (list.len == 0)
            return RC_OK;
        TRY(t->store->ops->admit(t->store, &t->owned, list.items, list.len, &t->arena, err));
        *ret_admitted = true;
    }
}

/* A commit whose outcome nobody knows must not be taken back: it may come to light after a crash.
 * So the store is asked more than once; if it cannot say, this server has to start anew and read
 * what is there. */
static enum rc settle(struct turn *t, uint64_t turn, struct err *err)
{
    enum settled settled;
    if (PLANTED(unknown_taken_for_kept))
        return RC_OK;
    if (PLANTED(unknown_taken_for_lost))
        return err_set(err, RC_BUSY, "the commit was lost, perhaps");
    enum rc rc = RC_UNKNOWN;
    for (int i = 0; i < SETTLE_TRIES && rc != RC_OK; i++)
        rc = t->store->ops->settle(t->store, &t->owned, turn, &settled, err);
    if (rc != RC_OK)
        return err_set(err, RC_UNKNOWN, "the store cannot tell whether the last turn was kept");
    return settled == SETTLED_KEPT ? RC_OK : err_set(err, RC_BUSY, "the commit was lost");
}

static void tell_phase(struct turn *t, enum turn_phase phase, const struct delta *kept)
{
    if (t->on_phase != NULL)
        t->on_phase(t->on_phase_arg, phase, kept);
}

static enum rc keep(struct turn *t, const struct delta *delta, bool admitted, struct err *err)
{
    /* Also when nothing is to be kept: an answer from memory is one that somebody believes. */
    if (t->may_keep != NULL && !t->may_keep(t->may_keep_arg) && !PLANTED(stale_owner_answers))
        return err_set(err, RC_BUSY, "the right to decide has ended");
    if (delta_is_empty(delta)) {
        if (admitted)
            t->store->ops->abort(t->store);
        return RC_OK;
    }
    assert(delta->turn > 0 &&
           ownership_set(&t->owned).bits != 0); /* else there is no owner's epoch */
    tell_phase(t, PHASE_COMMIT, NULL);
    enum rc rc = t->store->ops->commit(t->store, &t->owned, delta, err);
    if (PLANTED(ack_before_durable) && rc == RC_FULL)
        return RC_OK;
    if (PLANTED(slot_twice_after_unknown) && rc == RC_UNKNOWN && delta->job_count == 0 &&
        delta->exec_count > 0 && delta->execs[delta->exec_count - 1].exec.origin == ORIGIN_SLOT)
        return err_set(err, RC_BUSY, "the commit was lost, perhaps");
    return rc == RC_UNKNOWN ? settle(t, delta->turn, err) : rc;
}

/* RC_CORRUPT when the worker could make nothing of the definition; its whole reply would be
 * lost. */
static enum rc check_definition(struct command *cmd, const struct poll_lease *lease,
                                struct err *err)
{
    struct spec spec;
    if (spec_read(lease->spec, cmd->arena, &spec, err) != RC_OK ||
        (lease->payload.len > 0 && json_check(lease->payload, JSON_ANY_DEPTH, err) != RC_OK)) {
        err->rc = RC_CORRUPT;
        return RC_CORRUPT;
    }
    return RC_OK;
}

static enum rc fetch(struct turn *t, struct command *cmd, struct poll_lease *lease, struct err *err)
{
    uint64_t exec_id = lease->own_payload ? lease->exec_id : 0;
    TRY(t->store->ops->fetch(t->store, lease->job_id, exec_id, cmd->arena, &lease->spec,
                             &lease->payload, err));
    return check_definition(cmd, lease, err);
}

/* Specs too large for memory, and payloads of single executions, are read when their lease goes
 * out. The lease is durable already: if the disk fails, or the reply is full, the worker gets it
 * again with its next poll. A definition that nobody can read would come again for ever: it is left
 * alone instead. */
static void fetch_large(struct turn *t, struct command *cmd)
{
    struct err err;
    char text[ID_TEXT_MAX];
    size_t bytes = 0;
    VEC(struct poll_lease) sent = {0};
    for (size_t i = 0; i < cmd->reply.poll.lease_count; i++) {
        struct poll_lease lease = cmd->reply.poll.leases[i];
        enum rc rc = lease.spec.len == 0 ? fetch(t, cmd, &lease, &err) : RC_OK;
        if (rc == RC_CORRUPT || rc == RC_NOT_FOUND) {
            if (engine_drop(t->engine, lease.exec_id))
                turn_quarantine(t, lease.exec_id, err.text);
            continue;
        }
        if (rc != RC_OK) {
            log_error("a job's definition could not be read", "execution_id",
                      id_format(text, ID_EXEC, lease.exec_id).ptr, "error", err.text, NULL);
            continue;
        }
        bytes += lease.spec.len + lease.payload.len;
        if (sent.len > 0 && bytes > REPLY_BYTES_MAX)
            break;
        *VEC_PUSH(cmd->arena, &sent) = lease;
    }
    cmd->reply.poll.leases = sent.items;
    cmd->reply.poll.lease_count = sent.len;
}

static bool has_large(const struct command *cmd)
{
    for (size_t i = 0; cmd->kind == CMD_POLL && i < cmd->reply.poll.lease_count; i++) {
        if (cmd->reply.poll.leases[i].spec.len == 0)
            return true;
    }
    return false;
}

/* Once for each time that something begins to wait, and again when it is twice as much. */
static void tell_mail(struct turn *t)
{
    struct mail_waiting now = engine_mail_waiting(t->engine);
    if (now.waiting == 0 || now.waiting >= 2 * t->mail_told.waiting) {
        if (now.waiting > 0)
            log_warn("submissions by SQL wait in the inbox", "count", LOG_NUMBER(now.waiting),
                     "reason", now.why, NULL);
        else if (t->mail_told.waiting > 0)
            log_info("no submission by SQL waits any more", NULL);
        t->mail_told.waiting = now.waiting;
    }
    if (now.unknown > t->mail_told.unknown)
        log_warn("a newer version's messages wait in the inbox for a server that knows them",
                 "count", LOG_NUMBER(now.unknown), NULL);
    t->mail_told.unknown = now.unknown;
}

/* Before the commit in memory, which forgets what ended. */
static void tell_ended(struct turn *t)
{
    size_t count;
    const struct ended_trace *ended = engine_ended(t->engine, &count);
    if (count > 0 && t->on_ended != NULL)
        t->on_ended(t->on_ended_arg, ended, count);
}

static void publish(struct turn *t, struct turn_news *ret_news)
{
    *ret_news = (struct turn_news){0};
    list_init(&ret_news->done);
    tell_ended(t);
    engine_commit(t->engine, &ret_news->done, &ret_news->events, &ret_news->event_count);
    tell_mail(t);
    LIST_EACH(&ret_news->done, node)
    {
        struct command *cmd = CONTAINER_OF(node, struct command, node);
        if (has_large(cmd))
            fetch_large(t, cmd);
    }
}

static uint64_t partitions_of_mail(const struct turn *t, const struct delta *delta)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < delta->mail_count; i++)
        bits |= UINT64_C(1) << partition_of_bucket(t->owned.partitions, delta->mail[i].bucket);
    return bits;
}

/* Between any two lines the process may die. Before commit returns, the store holds nothing of the
 * turn and no client was told anything. After it, everything is durable: a client without an answer
 * asks again, and a lease that was not delivered is sent again with the worker's next poll. */
enum rc turn_run_once(struct turn *t, struct command *const *commands, size_t count,
                      struct moment now, struct turn_news *ret_news, struct err *err)
{
    bool admitted;
    const struct delta *delta = NULL;
    t->refused = NULL;
    arena_reset(&t->arena);
    rules_memo_tidy(&t->reading->memo);
    engine_begin(t->engine, now, &t->arena);
    tell_phase(t, PHASE_ADMIT, NULL);
    enum rc rc = ask(t, commands, count, &admitted, err);
    if (rc == RC_OK) {
        tell_phase(t, PHASE_DECIDE, NULL);
        engine_tick(t->engine);
        for (size_t i = 0; i < count; i++)
            engine_decide(t->engine, commands[i]);
        delta = engine_seal(t->engine);
        if (PLANTED(publish_before_commit)) {
            publish(t, ret_news);
            (void)keep(t, delta, admitted, err);
            return RC_OK;
        }
        rc = keep(t, delta, admitted, err);
    }
    if (rc != RC_OK) {
        t->store->ops->abort(t->store);
        engine_undo(t->engine);
        engine_mail_lost(t->engine);
        t->refused = delta;
        return rc;
    }
    bool committed = !delta_is_empty(delta);
    uint64_t mailed = partitions_of_mail(t, delta);
    tell_phase(t, PHASE_PUBLISH, committed ? delta : NULL);
    publish(t, ret_news);
    ret_news->committed = committed;
    ret_news->mailed = mailed;
    return RC_OK;
}

enum rc turn_run(struct turn *t, struct command *const *commands, size_t count, struct moment now,
                 struct turn_news *ret_news, struct err *err)
{
    if (t->broken != RC_OK)
        return err_set(err, t->broken, "an earlier turn could not be ended");
    enum rc rc = turn_run_once(t, commands, count, now, ret_news, err);
    return is_contradiction(rc) ? bisect(t, commands, count, now, ret_news, err) : rc;
}

void turn_run_outage(struct turn *t, struct command *const *commands, size_t count,
                     struct moment now, struct turn_news *ret_news)
{
    arena_reset(&t->arena);
    rules_memo_tidy(&t->reading->memo);
    engine_begin(t->engine, now, &t->arena);
    engine_outage(t->engine);
    for (size_t i = 0; i < count; i++) {
        assert(command_facts(commands[i]->kind)->works_in_outage);
        engine_decide(t->engine, commands[i]);
    }
    (void)engine_seal(t->engine);
    publish(t, ret_news);
}

enum rc turn_probe(struct turn *t, struct err *err)
{
    enum settled settled;
    return t->store->ops->settle(t->store, &t->owned, 0, &settled, err);
}

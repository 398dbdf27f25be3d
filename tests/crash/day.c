#include "day.h"

#include "store/sqlite/sqlite.h"
#include "wire/spec/spec_json.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define T0 INT64_C(1763200000000)

const struct str day_keys[] = {STR_INIT("nightly"), STR_INIT("weekly"), STR_INIT("hourly")};
const size_t day_key_count = COUNT_OF(day_keys);

static struct moment now(const struct day *day)
{
    return (struct moment){.wall_ms = day->now_ms, .boot_ms = day->now_ms - T0};
}

/* ---- opening and closing */

static enum rc run_sql(struct day *day, const char *sql)
{
    if (day->place.dir == NULL)
        return RC_OK;
    int code = sqlite3_exec(sqlite_of(day->store)->db.handle, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? RC_OK : err_set(&day->err, RC_IO, "%s", sql);
}

static enum rc open_store(struct day *day)
{
    if (day->place.dir == NULL) {
        if (day->store == NULL)
            day->store = store_mem_open(); /* nothing outlives its end, so it lives on */
    } else {
        TRY(store_sqlite_open(day->place.dir, day->place.durability, &day->store, &day->err));
        /* Small, so that checkpoints fall into the middle of many turns. */
        TRY(run_sql(day, "PRAGMA wal_autocheckpoint = 24"));
        if (day->place.careless)
            TRY(run_sql(day, "PRAGMA synchronous = OFF"));
    }
    TRY(turn_open(&day->turn, day->store, STR("day"), &engine_defaults, now(day), &day->err));
    day->epoch = day->turn.owned.epochs[0];
    return day->store->ops->logs(day->store, &day->logs, &day->err);
}

static void close_store(struct day *day)
{
    if (day->logs != NULL)
        day->logs->ops->close(day->logs);
    day->logs = NULL;
    turn_close(&day->turn);
    if (day->store != NULL && day->place.dir != NULL) {
        day->store->ops->close(day->store);
        day->store = NULL;
    }
}

enum rc day_begin(struct day *day, const struct day_place *place)
{
    *day = (struct day){.place = *place, .now_ms = T0};
    return open_store(day);
}

void day_end(struct day *day)
{
    close_store(day);
    if (day->store != NULL)
        day->store->ops->close(day->store);
    arena_free(&day->arena);
    *day = (struct day){0};
}

/* ---- turns */

static struct command *new_command(struct day *day, enum command_kind kind)
{
    struct command *cmd = ARENA_NEW(&day->arena, struct command);
    cmd->kind = kind;
    cmd->arena = &day->arena;
    cmd->actor = STR("key:admin");
    return cmd;
}

static enum rc run(struct day *day, struct command *cmd)
{
    struct turn_news news;
    day->now_ms += 7;
    return turn_run(&day->turn, &cmd, cmd != NULL, now(day), &news, &day->err);
}

static void told(struct day *day, uint64_t id)
{
    if (id > day->newest_id)
        day->newest_id = id;
}

/* ---- workers */

static enum rc register_worker(struct day *day, size_t which)
{
    static const struct str handlers[] = {STR_INIT("mail"), STR_INIT("report")};
    struct command *cmd = new_command(day, CMD_REGISTER);
    cmd->hello = (struct hello){
        .name = STR("host-1"),
        .handlers = handlers,
        .handler_count = COUNT_OF(handlers),
        .runs_commands = true,
        .slots = 8,
    };
    TRY(run(day, cmd));
    day->workers[which] = (struct day_worker){.id = cmd->reply.worker_id};
    told(day, cmd->reply.worker_id);
    return RC_OK;
}

static enum rc register_first(struct day *day)
{
    return register_worker(day, 0);
}

static enum rc register_second(struct day *day)
{
    return register_worker(day, 1);
}

/* Polls, and reports the oldest leases with these outcomes. */
static enum rc poll(struct day *day, size_t which, uint32_t free, const enum outcome *outcomes,
                    size_t count)
{
    struct day_worker *w = &day->workers[which];
    struct command *cmd = new_command(day, CMD_POLL);
    if (count > w->held_count)
        count = w->held_count;
    struct poll_result *results = ARENA_ARRAY(&day->arena, struct poll_result, count);
    for (size_t i = 0; i < count; i++)
        results[i] = (struct poll_result){
            .exec_id = w->held[i].exec_id,
            .token = w->held[i].token,
            .outcome = outcomes[i],
            .usage = {.exit_code = outcomes[i] == OUTCOME_SUCCEEDED ? 0 : 3, .log_seq = 2},
            .result = outcomes[i] == OUTCOME_SUCCEEDED ? STR("{\"sent\":true}") : STR(""),
            .error = outcomes[i] == OUTCOME_SUCCEEDED ? STR("") : STR("exit code 3"),
        };
    w->held_count -= count;
    memmove(w->held, w->held + count, w->held_count * sizeof w->held[0]);
    struct poll_held *held = ARENA_ARRAY(&day->arena, struct poll_held, DAY_HELD_MAX);
    memcpy(held, w->held, sizeof w->held);
    cmd->poll = (struct poll){
        .worker_id = w->id,
        .seq = ++w->seq,
        .free = free,
        .held = held,
        .held_count = w->held_count,
        .results = results,
        .result_count = count,
    };
    TRY(run(day, cmd));
    for (size_t i = 0; i < cmd->reply.poll.lease_count; i++) {
        const struct poll_lease *lease = &cmd->reply.poll.leases[i];
        assert(w->held_count < DAY_HELD_MAX);
        w->held[w->held_count++] = (struct poll_held){lease->exec_id, lease->token};
    }
    return RC_OK;
}

static enum rc take_work(struct day *day)
{
    return poll(day, 0, 5, NULL, 0);
}

static enum rc take_other_work(struct day *day)
{
    return poll(day, 1, 3, NULL, 0);
}

static enum rc report_mixed(struct day *day)
{
    static const enum outcome mixed[] = {OUTCOME_SUCCEEDED, OUTCOME_FAILED, OUTCOME_PERMANENT};
    return poll(day, 0, 1, mixed, COUNT_OF(mixed));
}

static enum rc report_good(struct day *day)
{
    static const enum outcome good[] = {OUTCOME_SUCCEEDED, OUTCOME_SUCCEEDED, OUTCOME_TIMEOUT};
    return poll(day, 1, 0, good, COUNT_OF(good));
}

static enum rc report_stopped(struct day *day)
{
    static const enum outcome stopped[] = {OUTCOME_STOPPED, OUTCOME_RETURNED};
    return poll(day, 0, 2, stopped, COUNT_OF(stopped));
}

static enum rc drain_second(struct day *day)
{
    struct command *cmd = new_command(day, CMD_DRAIN);
    cmd->target.id = day->workers[1].id;
    return run(day, cmd);
}

/* ---- jobs */

static void fill(struct day *day, struct submission *item, struct str document, struct str name,
                 struct str payload)
{
    struct spec spec;
    enum rc rc = spec_read(document, &day->arena, &spec, &day->err);
    assert(rc == RC_OK);
    *item = (struct submission){
        .name = name,
        .owner = STR("key:admin"),
        .tags = STR("\nteam:ops\n"),
        .spec = spec_text(&spec, &day->arena),
        .payload = payload,
        .rules = spec_rules(&spec),
        .when = spec.when,
        .when_ms = spec.when_ms,
        .err = ARENA_NEW(&day->arena, struct err),
    };
}

static enum rc submit(struct day *day, struct submission *items, size_t count)
{
    struct command *cmd = new_command(day, CMD_SUBMIT);
    cmd->submit.items = items;
    cmd->submit.count = count;
    TRY(run(day, cmd));
    for (size_t i = 0; i < count; i++) {
        if (items[i].rc != RC_OK)
            continue; /* its name was taken */
        assert(day->job_count < COUNT_OF(day->jobs));
        day->jobs[day->job_count] = items[i].job_id;
        day->execs[day->job_count++] = items[i].exec_id;
        told(day, items[i].exec_id);
    }
    return RC_OK;
}

static struct str large_text(struct day *day, size_t bytes)
{
    char *text = arena_bytes(&day->arena, bytes);
    memset(text, 'x', bytes);
    text[0] = text[bytes - 1] = '"';
    return str_of(text, bytes);
}

/* Every kind of job there is: named, late, large, with retries and without. */
static enum rc submit_batch(struct day *day)
{
    struct submission *items = ARENA_ARRAY(&day->arena, struct submission, 7);
    struct str plain = STR("{\"command\":[\"true\"],\"queue\":\"mail\","
                           "\"retry\":{\"max_retries\":1,\"delay\":\"1s\"}}");
    struct str late = STR("{\"handler\":\"report\",\"schedule\":{\"delay\":\"3h\"}}");
    struct str once = STR("{\"command\":[\"false\"],\"retry\":{\"max_retries\":0}}");
    fill(day, &items[0], plain, (struct str){0}, (struct str){0});
    fill(day, &items[1], plain, STR("nightly"), STR("{\"n\":1}"));
    fill(day, &items[2], once, (struct str){0}, large_text(day, 9000));
    fill(day, &items[3], late, STR("weekly"), (struct str){0});
    fill(day, &items[4], plain, STR("hourly"), large_text(day, 3000));
    fill(day, &items[5], once, (struct str){0}, (struct str){0});
    fill(day, &items[6], plain, STR("nightly"), (struct str){0}); /* taken within the batch */
    return submit(day, items, 7);
}

static enum rc submit_single(struct day *day)
{
    struct submission *item = ARENA_NEW(&day->arena, struct submission);
    fill(day, item, STR("{\"handler\":\"mail\"}"), (struct str){0}, STR("[1,2,3]"));
    return submit(day, item, 1);
}

enum rc day_submit_one(struct day *day, uint64_t *ret_job)
{
    TRY(submit_single(day));
    *ret_job = day->jobs[day->job_count - 1];
    return RC_OK;
}

static enum rc target(struct day *day, enum command_kind kind, uint64_t id)
{
    struct command *cmd = new_command(day, kind);
    cmd->target.id = id;
    cmd->target.reason = STR("not wanted");
    TRY(run(day, cmd));
    told(day, cmd->reply.exec_id);
    return RC_OK;
}

static enum rc cancel_running(struct day *day)
{
    const struct day_worker *w = &day->workers[0];
    return target(day, CMD_CANCEL_EXEC,
                  w->held_count > 0 ? w->held[0].exec_id : day->execs[day->job_count - 1]);
}

static enum rc cancel_named(struct day *day)
{
    return target(day, CMD_CANCEL_JOB, day->jobs[day->job_count > 4 ? day->job_count - 4 : 0]);
}

static enum rc cancel_waiting(struct day *day)
{
    return target(day, CMD_CANCEL_JOB, day->jobs[day->job_count - 1]);
}

static enum rc run_again(struct day *day)
{
    return target(day, CMD_RETRY_EXEC, day->execs[day->job_count > 8 ? day->job_count - 8 : 0]);
}

/* ---- time, output, and the file itself */

static enum rc wait_for_retries(struct day *day)
{
    day->now_ms += 2000;
    return run(day, NULL);
}

/* Leases end, and what is left of them is a loss. */
static enum rc wait_for_silence(struct day *day)
{
    day->now_ms += 30000;
    day->workers[0].held_count = day->workers[1].held_count = 0;
    return run(day, NULL);
}

static enum rc wait_until_forgotten(struct day *day)
{
    day->now_ms += 400000;
    return run(day, NULL);
}

static enum rc wait_for_the_horizon(struct day *day)
{
    day->now_ms += 3 * 3600000;
    return run(day, NULL);
}

static enum rc keep_output(struct day *day)
{
    struct log_chunk chunks[3];
    for (size_t i = 0; i < COUNT_OF(chunks); i++)
        chunks[i] = (struct log_chunk){
            .exec_id = day->execs[0],
            .token = 1,
            .seq = day->log_chunks + i + 1,
            .attempt = 1,
            .stream = LOG_STDOUT,
            .at_ms = day->now_ms,
            .bytes = large_text(day, 700),
        };
    TRY(day->logs->ops->append(day->logs, chunks, COUNT_OF(chunks), &day->err));
    day->log_chunks += COUNT_OF(chunks);
    return RC_OK;
}

static enum rc checkpoint(struct day *day)
{
    return run_sql(day, "PRAGMA wal_checkpoint(TRUNCATE)");
}

static enum rc add_key(struct day *day)
{
    struct key_rec key = {
        .id = day->newest_id + 1, .name = STR("ci"), .role = STR("reader"), .created_ms = T0};
    TRY(day->store->ops->key_put(day->store, &key, &day->err));
    told(day, key.id);
    return RC_OK;
}

static enum rc restart(struct day *day)
{
    close_store(day);
    TRY(open_store(day));
    day->synced = day->done;
    return RC_OK;
}

typedef enum rc step_fn(struct day *day);

/* clang-format off */
static step_fn *const script[] = {
    register_first, register_second, submit_batch, take_work, report_mixed, keep_output,
    submit_single, take_other_work, cancel_running, report_stopped, wait_for_retries, checkpoint,
    submit_batch, take_work, take_other_work, report_good, cancel_named, run_again, keep_output,
    restart,
    take_work, submit_single, submit_batch, report_mixed, wait_for_silence, keep_output, add_key,
    take_work, take_other_work, report_good, report_mixed, checkpoint, submit_single,
    cancel_waiting, run_again, drain_second, wait_until_forgotten, register_first,
    restart,
    register_second, wait_for_the_horizon, take_work, submit_batch, take_other_work, report_mixed,
    report_good, wait_for_retries, cancel_running, take_work, report_stopped, keep_output,
    submit_batch, take_other_work, report_good, report_mixed,
};
/* clang-format on */

size_t day_steps(void)
{
    return COUNT_OF(script);
}

enum rc day_step(struct day *day)
{
    TRY(script[day->done](day));
    day->done++;
    return RC_OK;
}

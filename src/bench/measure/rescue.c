#include "bench/measure/rescue.h"
#include "bench/harness/load.h"
#include "loop/clock.h"
#include "wire/json/json.h"

#include <inttypes.h>

enum {
    DEATHS = 20,
    APART_MS = 100, /* two deaths */
    HOLD_MAX = 500, /* leases of one of them: a batch, and a poll of moderate size */
    BODY_BYTES_MAX = 1 << 20,
    PAUSE_MS = 5000, /* shorter than a silence (fixture.h) */
    EARLY_MS = 2,    /* clocks are read in whole milliseconds */
};

struct vigil {
    struct rescue *rescue;
    int64_t spoke_ms[DEATHS]; /* wall clock: when each sent its last poll */
    uint64_t calls;
    uint64_t early; /* calls before the lease can have ended */
};

static void print_job(void *arg, uint64_t number, struct buf *out)
{
    (void)number;
    int no = *(const int *)arg;
    buf_printf(out,
               "{\"handler\":\"" ROLE_HANDLER "\",\"queue\":\"rescue-%d\","
               "\"payload\":{\"" ROLE_NUMBER "\":%d}}",
               no, no + 1);
}

static enum rc submit(struct fixture *fixture, int no, uint32_t count, struct rescue *rescue,
                      struct err *err)
{
    struct load load;
    struct load_plan plan = {
        .clients = 1,
        .batch = count,
        .print = print_job,
        .arg = &no,
        .jobs_max = count,
        .seconds_max = INT32_MAX,
    };
    TRY(load_run(fixture, &plan, &load, err));
    rescue->jobs += load.jobs;
    rescue->requests += load.requests;
    return RC_OK;
}

/* ---- a worker that takes work and dies */

static enum rc enlist(struct fixture *fixture, int no, uint32_t slots, struct arena *arena,
                      struct str *ret_poll, struct err *err)
{
    struct json answer;
    struct str body = arena_printf(arena,
                                   "{\"name\":\"mortal-%d\",\"slots\":%u,\"handlers\":["
                                   "\"" ROLE_HANDLER "\"],\"queues\":[\"rescue-%d\"]}",
                                   no, (unsigned)slots, no);
    TRY(fixture_post(fixture, STR("/api/v1/workers"), body, arena, &answer, err));
    const struct json *id = json_get(&answer, STR("worker_id"));
    if (id == NULL || id->kind != JSON_STRING)
        return err_set(err, RC_INVALID, "a worker was registered without an id");
    *ret_poll = arena_printf(arena, "/api/v1/workers/%.*s/poll", STR_ARG(id->string));
    return RC_OK;
}

static enum rc take(struct fixture *fixture, struct str poll, uint32_t count, struct arena *arena,
                    const struct json **ret_leases, struct err *err)
{
    struct json *answer = ARENA_NEW(arena, struct json);
    struct str body =
        arena_printf(arena, "{\"seq\":1,\"free\":%u,\"wait_ms\":1000}", (unsigned)count);
    TRY(fixture_post(fixture, poll, body, arena, answer, err));
    *ret_leases = json_get(answer, STR("leases"));
    if (*ret_leases == NULL || (*ret_leases)->kind != JSON_ARRAY || (*ret_leases)->count != count)
        return err_set(err, RC_INVALID, "a worker was not given the %u leases that wait for it",
                       (unsigned)count);
    return RC_OK;
}

/* Its last words: it has started all of them. */
static enum rc confirm(struct fixture *fixture, struct str poll, const struct json *leases,
                       struct arena *arena, struct err *err)
{
    CLEANUP(buf_free) struct buf body = BUF(BODY_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&body);
    struct json answer;
    json_open(&w);
    json_put_int(&w, "seq", 2);
    json_put_int(&w, "free", 0);
    json_put_int(&w, "wait_ms", 0);
    json_key(&w, "running");
    json_open_array(&w);
    for (uint32_t i = 0; i < leases->count; i++) {
        const struct json *lease = &leases->items[i];
        json_open(&w);
        json_put_raw(&w, "execution_id", json_get(lease, STR("execution_id"))->raw);
        json_put_raw(&w, "token", json_get(lease, STR("token"))->raw);
        json_close(&w);
    }
    json_close_array(&w);
    json_close(&w);
    return fixture_post(fixture, poll, buf_str(&body), arena, &answer, err);
}

static enum rc live_and_die(struct fixture *fixture, int no, uint32_t count, struct vigil *vigil,
                            struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const struct json *leases;
    struct str poll;
    TRY(submit(fixture, no, count, vigil->rescue, err));
    TRY(enlist(fixture, no, count, &arena, &poll, err));
    TRY(take(fixture, poll, count, &arena, &leases, err));
    const struct json *ttl = json_get(&leases->items[0], STR("ttl_ms"));
    vigil->rescue->lease_ms = ttl != NULL && ttl->kind == JSON_INT ? ttl->integer : 0;
    vigil->spoke_ms[no] = clock_wall_ms();
    return confirm(fixture, poll, leases, &arena, err);
}

/* ---- the one that lives */

static void on_note(void *arg, const struct note *note)
{
    struct vigil *vigil = arg;
    if (note->number == 0 || note->number > DEATHS)
        return;
    /* note_slot says how late after the slot it was, a millisecond too much. */
    int64_t called_ms = (int64_t)(note->slot_ms + note->start_us / 1000) - 1;
    int64_t ended_ms = vigil->spoke_ms[note->number - 1] + vigil->rescue->lease_ms;
    int64_t beyond_ms = called_ms - ended_ms;
    vigil->early += beyond_ms < -EARLY_MS;
    hist_add(&vigil->rescue->beyond_us, beyond_ms > 0 ? (uint64_t)beyond_ms * 1000 : 0);
    vigil->calls++;
}

static bool all_rescued(const void *arg)
{
    const struct vigil *vigil = arg;
    return vigil->calls >= vigil->rescue->jobs;
}

/* Until the first lease is about to end, nothing happens. */
static enum rc wait_for_the_first(struct fixture *fixture, const struct vigil *vigil,
                                  struct err *err)
{
    int64_t ends_ms = vigil->spoke_ms[0] + vigil->rescue->lease_ms;
    for (int64_t left_ms; (left_ms = ends_ms - clock_wall_ms()) > 0;)
        TRY(fixture_pause(fixture, left_ms < PAUSE_MS ? left_ms : PAUSE_MS, err));
    return RC_OK;
}

enum rc rescue_run(struct fixture *fixture, const struct rescue_plan *plan,
                   struct rescue *ret_rescue, struct err *err)
{
    struct vigil vigil = {.rescue = ret_rescue};
    uint64_t each = plan->jobs / DEATHS;
    each = each < 1 ? 1 : each > HOLD_MAX ? HOLD_MAX : each;
    *ret_rescue = (struct rescue){.begun_us = clock_mono_us()};
    for (int i = 0; i < DEATHS; i++) {
        TRY(live_and_die(fixture, i, (uint32_t)each, &vigil, err));
        TRY(fixture_pause(fixture, APART_MS, err));
    }
    fixture_listen(fixture, on_note, &vigil);
    TRY(fixture_hire(fixture, plan->slots, err));
    TRY(wait_for_the_first(fixture, &vigil, err));
    TRY(fixture_wait(fixture, all_rescued, &vigil, "runs to be given to another worker", err));
    if (vigil.early > 0)
        return err_set(err, RC_CORRUPT, "%" PRIu64 " runs were given away before their lease ended",
                       vigil.early);
    return RC_OK;
}

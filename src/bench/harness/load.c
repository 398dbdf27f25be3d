#include "bench/harness/load.h"
#include "base/mem.h"
#include "loop/clock.h"
#include "wire/client/client.h"
#include "wire/json/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    CALL_TIMEOUT_MS = 20000, /* a server that is only slow is not a failure */
    BODY_BYTES_MAX = 16 << 20,
};

#define JOB "{\"handler\":\"" ROLE_HANDLER "\"}"

struct client {
    struct crowd *crowd;
    struct http_client *http; /* owned */
    int64_t sent_us;
};

/* The clients of one run. */
struct crowd {
    struct fixture *fixture;
    const struct load_plan *plan;
    struct load *load;
    struct client *clients; /* owned */
    struct buf body;        /* of the next request */
    struct arena arena;     /* of one answer */
    uint64_t jobs_sent;
    int64_t until_us;
    uint32_t busy;
};

static uint32_t jobs_per_call(const struct load_plan *plan)
{
    return plan->batch == 0 ? 1 : plan->batch;
}

/* ---- answers */

/* How many of a batch were taken: an entry of the answer has an id, or says why not. */
static uint64_t count_taken(struct crowd *crowd, struct str body)
{
    struct json doc;
    uint64_t taken = 0;
    arena_reset(&crowd->arena);
    if (json_parse(body, &crowd->arena, &doc, NULL) != RC_OK)
        return 0;
    const struct json *results = json_get(&doc, STR("results"));
    if (results == NULL || results->kind != JSON_ARRAY)
        return 0;
    for (uint32_t i = 0; i < results->count; i++)
        taken += json_get(&results->items[i], STR("job_id")) != NULL;
    return taken;
}

static enum rc judge(struct crowd *crowd, const struct http_response *response, uint64_t *ret_taken,
                     struct err *err)
{
    const struct load_plan *plan = crowd->plan;
    if (response->status != (plan->batch == 0 ? 201 : 200))
        return err_set(err, RC_INVALID, "a submission was answered %d: %.*s", response->status,
                       STR_ARG(str_head(response->body, 200)));
    *ret_taken = plan->batch == 0 ? 1 : count_taken(crowd, response->body);
    if (*ret_taken == jobs_per_call(plan))
        return RC_OK;
    return err_set(err, RC_INVALID, "of a batch of %u jobs %" PRIu64 " were taken", plan->batch,
                   *ret_taken);
}

static void send_next(struct client *client);

static void on_done(void *arg, const struct http_response *response, const struct err *err)
{
    struct client *client = arg;
    struct crowd *crowd = client->crowd;
    int64_t now_us = clock_mono_us();
    uint64_t taken = 0;
    struct err bad;

    crowd->busy--;
    if (response == NULL) {
        fixture_fail(crowd->fixture, err);
        return;
    }
    if (judge(crowd, response, &taken, &bad) != RC_OK) {
        fixture_fail(crowd->fixture, &bad);
        return;
    }
    hist_add(&crowd->load->answer_us, (uint64_t)(now_us - client->sent_us));
    crowd->load->requests++;
    crowd->load->jobs += taken;
    crowd->load->ended_us = now_us;
    fixture_progress(crowd->fixture);
    send_next(client);
}

/* ---- requests */

static void print_job(struct crowd *crowd, uint64_t number)
{
    if (crowd->plan->print != NULL)
        crowd->plan->print(crowd->plan->arg, number, &crowd->body);
    else
        buf_add(&crowd->body, STR(JOB));
}

static void print_body(struct crowd *crowd)
{
    uint32_t count = crowd->plan->batch;
    if (crowd->plan->print == NULL && crowd->body.len > 0)
        return; /* the same as the last one */
    buf_clear(&crowd->body);
    if (count > 0)
        buf_add(&crowd->body, STR("{\"jobs\":["));
    print_job(crowd, crowd->jobs_sent);
    for (uint32_t i = 1; i < count; i++) {
        buf_add_char(&crowd->body, ',');
        print_job(crowd, crowd->jobs_sent + i);
    }
    if (count > 0)
        buf_add(&crowd->body, STR("]}"));
}

static void send_next(struct client *client)
{
    struct crowd *crowd = client->crowd;
    bool single = crowd->plan->batch == 0;
    int64_t now_us = clock_mono_us();
    if (crowd->jobs_sent >= crowd->plan->jobs_max || now_us >= crowd->until_us)
        return;
    print_body(crowd);
    crowd->jobs_sent += jobs_per_call(crowd->plan);
    crowd->busy++;
    client->sent_us = now_us;
    http_client_send(client->http,
                     &(struct http_call){
                         .method = "POST",
                         .target = single ? STR("/api/v1/jobs") : STR("/api/v1/jobs/batch"),
                         .content_type = "application/json",
                         .body = buf_str(&crowd->body),
                         .timeout_ms = CALL_TIMEOUT_MS,
                         .on_done = on_done,
                         .arg = client,
                     });
}

/* ---- the crowd */

static bool is_done(const void *arg)
{
    const struct crowd *crowd = arg;
    return crowd->busy == 0;
}

static void crowd_end(struct crowd *crowd)
{
    for (uint32_t i = 0; i < crowd->plan->clients; i++)
        http_client_free(crowd->clients[i].http);
    free(crowd->clients);
    buf_free(&crowd->body);
    arena_free(&crowd->arena);
}

static enum rc crowd_connect(struct crowd *crowd, struct err *err)
{
    struct fixture *fixture = crowd->fixture;
    for (uint32_t i = 0; i < crowd->plan->clients; i++) {
        struct client *client = &crowd->clients[i];
        client->crowd = crowd;
        TRY(http_client_new(fixture_loop(fixture), fixture_url_for(fixture, i),
                            fixture_token(fixture), &client->http, err));
    }
    return RC_OK;
}

enum rc load_run(struct fixture *fixture, const struct load_plan *plan, struct load *ret_load,
                 struct err *err)
{
    CLEANUP(crowd_end)
    struct crowd crowd = {
        .fixture = fixture,
        .plan = plan,
        .load = ret_load,
        .clients = mem_new(plan->clients * sizeof *crowd.clients),
        .body = BUF(BODY_BYTES_MAX),
    };
    *ret_load = (struct load){0};
    TRY(crowd_connect(&crowd, err));
    ret_load->begun_us = clock_mono_us();
    crowd.until_us = ret_load->begun_us + plan->seconds_max * 1000000;
    for (uint32_t i = 0; i < plan->clients; i++)
        send_next(&crowd.clients[i]);
    return fixture_wait(fixture, is_done, &crowd, "answers to submissions", err);
}

#include "cli/submit/batch.h"
#include "base/mem.h"
#include "cli/api.h"

#include <stdlib.h>

enum {
    JOBS_MAX = 1000,
    BYTES_MAX = 8 << 20, /* half of what a server takes in one request by default */
    BODY_BYTES_MAX = 1 << 30,
};

struct batch {
    struct cli *cli;
    batch_sink *sink;
    void *arg;
    struct buf body;
    struct json_writer writer;
    size_t lines[JOBS_MAX]; /* where each came from */
    size_t count;
};

static void begin(struct batch *batch)
{
    buf_clear(&batch->body);
    batch->writer = JSON_WRITER(&batch->body);
    batch->count = 0;
    json_open(&batch->writer);
    json_key(&batch->writer, "jobs");
    json_open_array(&batch->writer);
}

struct batch *batch_new(struct cli *cli, batch_sink *sink, void *arg)
{
    struct batch *batch = MEM_NEW(struct batch);
    batch->cli = cli;
    batch->sink = sink;
    batch->arg = arg;
    batch->body = BUF(BODY_BYTES_MAX);
    begin(batch);
    return batch;
}

void batch_free(struct batch **batch)
{
    buf_free(&(*batch)->body);
    free(*batch);
}

static void hand_over(struct batch *batch, size_t line, const struct json *result)
{
    struct err err;
    const struct json *status = json_get(result, STR("status"));
    int number = status != NULL && status->kind == JSON_INT ? (int)status->integer : 0;
    if (api_text(result, STR("job_id")).len > 0) {
        batch->sink(batch->arg, line, result, NULL);
        return;
    }
    api_problem(batch->cli, number, result, &err);
    batch->sink(batch->arg, line, result, &err);
}

enum rc batch_send(struct batch *batch, struct err *err)
{
    struct json answer;
    if (batch->count == 0)
        return RC_OK;
    json_close_array(&batch->writer);
    json_close(&batch->writer);
    TRY(api_call(batch->cli, "POST", STR("/jobs/batch"), buf_str(&batch->body), &answer, err));
    const struct json *results = json_get(&answer, STR("results"));
    if (results == NULL || results->kind != JSON_ARRAY || results->count != batch->count)
        return err_set(err, RC_CORRUPT, "the server did not answer for each job");
    for (size_t i = 0; i < batch->count; i++)
        hand_over(batch, batch->lines[i], &results->items[i]);
    begin(batch);
    return RC_OK;
}

enum rc batch_add(struct batch *batch, size_t line, struct str document, struct err *err)
{
    if (batch->count == JOBS_MAX || batch->body.len + document.len > BYTES_MAX)
        TRY(batch_send(batch, err));
    json_raw(&batch->writer, document);
    batch->lines[batch->count++] = line;
    return RC_OK;
}

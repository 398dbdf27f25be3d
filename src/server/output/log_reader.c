#include "server/output/log_reader.h"
#include "base/mem.h"
#include "loop/thread.h"
#include "server/call/represent.h"
#include "store/store.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    BODY_BYTES_MAX = LINES_ANSWER_BYTES + (1 << 20),
    SLICE_BYTES = 16 << 20,
    PASSED_BYTES_MAX = 64 << 20, /* of lines of other streams, for one answer */
};

struct log_reader {
    struct server *server;
    struct mailbox *box;
    struct thread *thread;
    struct logs *logs;       /* NULL: not needed yet */
    struct log_index *index; /* the same; owned */
};

/* ---- one line */

void log_line_print(struct buf *out, uint64_t exec_id, uint32_t attempt, uint64_t base,
                    const struct log_line *line)
{
    struct json_writer w = JSON_WRITER(out);
    json_open(&w);
    if (exec_id != 0)
        json_put_id(&w, "execution_id", ID_EXEC, exec_id);
    json_put_int(&w, "attempt", attempt);
    json_put_int(&w, "n", (int64_t)(base + line->number));
    json_put_when(&w, "at", line->at_ms);
    json_put_str(&w, "stream", log_stream_name(line->stream));
    json_put_str(&w, "text", line->text);
    if (line->more)
        json_put_bool(&w, "more", true);
    if (line->dropped > 0)
        json_put_int(&w, "dropped_bytes", (int64_t)line->dropped);
    if (line->missing > 0)
        json_put_int(&w, "missing_pieces", (int64_t)line->missing);
    json_close(&w);
}

/* ---- the lines of one execution */

/* A look at one execution. */
struct look {
    struct log_index *index;
    struct lines_call *call;
    const struct lines_run *run;
    struct buf *out;
    size_t out_max; /* no line begins behind it */
    struct token_lines *tokens;
    size_t count;
    size_t given;
    size_t passed; /* bytes of lines of other streams */
    bool full;
    /* of the token that is read */
    uint32_t attempt;
    uint64_t base; /* lines of the attempt's tokens before it */
    /* where to go on */
    uint32_t next_attempt;
    uint64_t next_number;
};

static enum rc count_lines(struct look *k, size_t i, struct err *err)
{
    return log_index_look(k->index, k->run->exec_id, &k->tokens[i], err);
}

/* The tokens of the attempts that are asked for. */
static enum rc find_tokens(struct look *k, struct arena *arena, struct err *err)
{
    size_t kept = 0;
    TRY(log_index_tokens(k->index, k->run->exec_id, arena, &k->tokens, &k->count, err));
    for (size_t i = 0; i < k->count; i++) {
        if (k->call->attempt != 0 && k->tokens[i].attempt != k->call->attempt)
            continue;
        k->tokens[kept] = k->tokens[i];
        k->tokens[kept].settled = k->run->settled;
        k->tokens[kept++].over = k->run->final || k->tokens[i].token != k->run->live_token;
    }
    k->count = kept;
    return RC_OK;
}

/* The lines of its attempt before token i. */
static enum rc find_base(struct look *k, size_t i, struct err *err)
{
    k->base = 0;
    k->attempt = k->tokens[i].attempt;
    for (; i > 0 && k->tokens[i - 1].attempt == k->attempt; i--) {
        TRY(count_lines(k, i - 1, err));
        k->base += k->tokens[i - 1].counts.of[0];
    }
    return RC_OK;
}

/* In which token the last lines begin, and behind how many of its own. */
static enum rc seek_tail(struct look *k, size_t *ret_i, uint64_t *ret_skip, struct err *err)
{
    uint64_t sum = 0;
    size_t i = k->count;
    *ret_skip = 0;
    while (i > 0 && (sum < k->call->tail || i == k->count)) {
        TRY(count_lines(k, --i, err));
        sum += k->tokens[i].counts.of[k->call->stream];
    }
    if (sum > k->call->tail)
        *ret_skip = sum - k->call->tail;
    *ret_i = i;
    return i < k->count ? find_base(k, i, err) : RC_OK;
}

/* The same for a line by its number. One behind the last of an attempt is the next one's first. */
static enum rc seek_from(struct look *k, size_t *ret_i, uint64_t *ret_skip, struct err *err)
{
    uint32_t attempt = k->call->from_attempt;
    uint64_t skip = k->call->from - 1;
    size_t i = 0;
    if (attempt == 0 && k->count > 0)
        attempt = k->tokens[0].attempt;
    while (i < k->count && k->tokens[i].attempt < attempt)
        i++;
    k->base = 0;
    for (; i < k->count && k->tokens[i].attempt == attempt; i++) {
        TRY(count_lines(k, i, err));
        if (k->base + k->tokens[i].counts.of[0] > skip) {
            *ret_skip = skip - k->base;
            *ret_i = i;
            return RC_OK;
        }
        k->base += k->tokens[i].counts.of[0];
    }
    if (i < k->count)
        k->base = 0;
    *ret_skip = 0;
    *ret_i = i;
    return RC_OK;
}

/* As a line_sink: prints what is asked for. */
static bool take_line(void *arg, const struct log_line *line, const struct line_place *before)
{
    struct look *k = arg;
    bool other = k->call->stream != 0 && (unsigned)line->stream != k->call->stream;
    if (other && (k->passed += line->text.len + 1) < PASSED_BYTES_MAX)
        return true;
    k->next_attempt = k->attempt;
    k->next_number = k->base + line->number;
    k->full =
        other || k->given == k->call->limit || k->out->len >= k->out_max || k->call->find_place;
    if (k->full) {
        k->call->place = *before;
        k->call->place.count += k->base;
        return false;
    }
    log_line_print(k->out, k->call->named ? k->run->exec_id : 0, k->attempt, k->base, line);
    buf_add_char(k->out, '\n');
    k->given++;
    return true;
}

/* From line `skip` of token i on: its own count of a stream, if that is given. */
static enum rc read_lines(struct look *k, size_t i, unsigned stream, uint64_t skip, struct err *err)
{
    for (; i < k->count && !k->full; i++, stream = 0, skip = 0) {
        struct token_lines *token = &k->tokens[i];
        if (!token->known)
            TRY(count_lines(k, i, err));
        if (k->attempt != token->attempt)
            k->base = 0;
        k->attempt = token->attempt;
        TRY(log_index_read(k->index, k->run->exec_id, token, stream, skip, take_line, k, err));
        if (k->full)
            return RC_OK;
        k->next_attempt = k->attempt;
        k->next_number = k->base + token->counts.of[0] + 1;
        k->call->place = token->end;
        k->call->place.count += k->base;
        k->base += token->counts.of[0];
    }
    return RC_OK;
}

/* All that was asked for is there, and nothing will follow. */
static bool is_complete(const struct look *k)
{
    const struct lines_run *run = k->run;
    if (!run->final || k->full)
        return false;
    if (run->settled || run->last_seq == 0)
        return true;
    if (k->call->attempt != 0 && k->call->attempt != run->attempts[run->attempt_count - 1].number)
        return true;
    const struct token_lines *last = k->count > 0 ? &k->tokens[k->count - 1] : NULL;
    return last != NULL && last->token == run->last_token && last->last_seq >= run->last_seq;
}

static void put_counts(struct json_writer *w, const struct look *k)
{
    json_key(w, "attempts");
    json_open_array(w);
    for (size_t i = 0; i < k->count;) {
        struct line_counts sum = {{0}};
        uint32_t attempt = k->tokens[i].attempt;
        bool known = true;
        for (; i < k->count && k->tokens[i].attempt == attempt; i++) {
            known = known && k->tokens[i].known;
            for (size_t s = 0; s < COUNT_OF(sum.of); s++)
                sum.of[s] += k->tokens[i].counts.of[s];
        }
        json_open(w);
        json_put_int(w, "attempt", attempt);
        if (known)
            json_put_int(w, "lines", (int64_t)sum.of[0]);
        if (known && k->call->stream != 0)
            json_put_int(w, "lines_of_stream", (int64_t)sum.of[k->call->stream]);
        json_close(w);
    }
    json_close_array(w);
}

/* Attempts that printed something of which nothing is left. */
static void put_deleted(struct json_writer *w, const struct look *k)
{
    bool any = false;
    for (size_t i = 0; i < k->run->attempt_count; i++) {
        const struct attempt_rec *attempt = &k->run->attempts[i];
        bool found = k->call->attempt != 0 && attempt->number != k->call->attempt;
        for (size_t t = 0; t < k->count && !found; t++)
            found = k->tokens[t].token == attempt->token;
        if (found || attempt->usage.log_seq == 0 || !k->run->settled)
            continue;
        if (!any) {
            json_key(w, "deleted_attempts");
            json_open_array(w);
        }
        any = true;
        json_int(w, attempt->number);
    }
    if (any)
        json_close_array(w);
}

static void put_end(const struct look *k, struct arena *arena)
{
    struct json_writer w = JSON_WRITER(k->out);
    bool complete = is_complete(k);
    json_open(&w);
    json_put_bool(&w, "end", true);
    if (k->call->named)
        json_put_id(&w, "execution_id", ID_EXEC, k->run->exec_id);
    json_put_str(&w, "status", k->run->status);
    json_put_bool(&w, "complete", complete);
    json_put_bool(&w, "more", k->full);
    if (!complete)
        json_put_str(&w, "next_from",
                     arena_printf(arena, "%u.%" PRIu64, (unsigned)k->next_attempt, k->next_number));
    put_counts(&w, k);
    put_deleted(&w, k);
    json_close(&w);
    buf_add_char(k->out, '\n');
}

static enum rc look_at(struct look *k, struct arena *arena, struct err *err)
{
    const struct lines_call *call = k->call;
    size_t i;
    uint64_t skip;
    TRY(find_tokens(k, arena, err));
    k->next_attempt = call->from_attempt != 0 ? call->from_attempt : 1;
    k->next_number = call->from_end ? 1 : call->from;
    if (call->attempt != 0)
        k->next_attempt = call->attempt;
    if (call->from_end)
        TRY(seek_tail(k, &i, &skip, err));
    else
        TRY(seek_from(k, &i, &skip, err));
    if (i == k->count && i > 0) { /* behind the last line of all: say where that is */
        TRY(count_lines(k, --i, err));
        TRY(find_base(k, i, err));
        skip = k->tokens[i].counts.of[0];
        return read_lines(k, i, 0, skip, err);
    }
    if (i < k->count)
        k->attempt = k->tokens[i].attempt;
    return read_lines(k, i, call->from_end ? call->stream : 0, skip, err);
}

/* ---- the thread */

static enum rc open_logs(struct log_reader *reader, struct err *err)
{
    if (reader->logs != NULL)
        return RC_OK;
    struct store *store = reader->server->store;
    TRY(store->ops->logs(store, &reader->logs, err));
    reader->index = log_index_new(reader->logs);
    return RC_OK;
}

static enum rc answer(struct log_reader *reader, struct request *r, struct err *err)
{
    struct lines_call *call = r->own;
    TRY(open_logs(reader, err));
    log_index_slice(reader->index, call->slice);
    r->body = BUF(BODY_BYTES_MAX);
    for (size_t i = 0; i < call->count; i++) {
        struct look k = {.index = reader->index,
                         .call = call,
                         .run = &call->runs[i],
                         .out = &r->body,
                         .out_max = LINES_ANSWER_BYTES / call->count * (i + 1)};
        TRY(look_at(&k, r->arena, err));
        if (!call->find_place)
            put_end(&k, r->arena);
    }
    return RC_OK;
}

/* False: it needs another turn. */
static bool serve_one(struct log_reader *reader, struct request *r)
{
    struct lines_call *call = r->own;
    call->slice = call->slice == 0 ? SLICE_BYTES : 2 * call->slice;
    r->rc = answer(reader, r, &r->err);
    if (r->rc != RC_OK && reader->index != NULL && log_index_paused(reader->index)) {
        buf_free(&r->body);
        if (mailbox_wait(reader->box, 0) != RC_SHUTDOWN)
            return false;
        r->rc = err_set(&r->err, RC_SHUTDOWN, "the server is shutting down");
    }
    if (r->rc == RC_OK && !call->find_place)
        represent_body(r, SIZE_MAX);
    request_send_home(r);
    return true;
}

static void serve(void *arg)
{
    struct log_reader *reader = arg;
    struct list mail;
    list_init(&mail);
    while (!list_empty(&mail) || mailbox_wait(reader->box, MAILBOX_FOREVER) == RC_OK) {
        mailbox_take_all(reader->box, &mail);
        struct list_node *node = list_pop_front(&mail);
        struct mail *one = CONTAINER_OF(node, struct mail, node);
        if (!serve_one(reader, CONTAINER_OF(one, struct request, parcel.mail)))
            list_push_back(&mail, node);
    }
}

enum rc log_reader_start(struct server *server, struct log_reader **ret_reader, struct err *err)
{
    struct log_reader *reader = MEM_NEW(struct log_reader);
    reader->server = server;
    reader->box = mailbox_new(server->options->mailbox_max);
    enum rc rc = thread_start("lines", serve, reader, &reader->thread, err);
    if (rc != RC_OK) {
        log_reader_free(reader);
        return rc;
    }
    *ret_reader = reader;
    return RC_OK;
}

enum rc log_reader_send(struct log_reader *reader, struct request *r)
{
    return mailbox_send(reader->box, &r->parcel.mail);
}

void log_reader_stop(struct log_reader *reader)
{
    mailbox_close(reader->box);
    thread_join(reader->thread);
    reader->thread = NULL;
}

void log_reader_free(struct log_reader *reader)
{
    if (reader == NULL)
        return;
    mailbox_free(reader->box);
    log_index_free(reader->index);
    if (reader->logs != NULL)
        reader->logs->ops->close(reader->logs);
    free(reader);
}

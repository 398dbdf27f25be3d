/* api_letters.c - dead letters: lists and groups of them, running one or many again, discarding. */
#include "base/when.h"
#include "loop/clock.h"
#include "server/api/api.h"
#include "server/call/resolve.h"
#include "server/turn/idempotency.h"
#include "server/view/exec_traces.h"
#include "server/view/letter_view.h"
#include "server/view/operation_view.h"
#include "wire/message/record_json.h"

enum {
    CURSOR_LEN = 3 * ID_DIGITS,
    GROUP_SCAN_MAX = 100000, /* letters that are counted in groups: some 40 ms, */
    GROUP_FIT_MAX = 40000,   /* or looked at for that: as much */
    FILTER_BYTES_MAX = 64 << 10,
};

/* What a request is about, between its steps. */
struct letter_call {
    struct letter_filter filter;
    struct letter_place before;
    enum operation_kind kind;
    bool dry_run;
    uint64_t count;
};

static struct letter_call *call_of(struct request *r)
{
    if (r->own == NULL)
        r->own = ARENA_NEW(r->arena, struct letter_call);
    return r->own;
}

/* ---- parameters */

static void read_filter(struct request *r, struct letter_filter *f, struct field_errors *errors)
{
    struct str text;
    struct err err;
    (void)http_request_param(r->http, STR("queue"), &f->queue);
    (void)http_request_param(r->http, STR("name"), &f->name);
    if (http_request_param(r->http, STR("class"), &text) && !failure_parse(text, &f->class))
        field_error(errors, r->arena, STR("class"), "must be one of %.*s",
                    STR_ARG(words_text(&failure_words, r->arena)));
    if (http_request_param(r->http, STR("fingerprint"), &text) &&
        !fingerprint_parse(text, &f->fingerprint))
        field_error(errors, r->arena, STR("fingerprint"), "must be %d hexadecimal digits",
                    FAILURE_PRINT_BYTES);
    if (http_request_param(r->http, STR("job"), &text)) {
        if (id_parse(text, ID_JOB, &f->job_id, &err) != RC_OK)
            field_error(errors, r->arena, STR("job"), "%s", err.text);
        else if (f->job_id == 0) /* in a filter it would not restrict */
            field_error(errors, r->arena, STR("job"), "no job has the id zero");
    }
    request_bound(r, "created_after", &f->died_after_ms, errors);
    request_bound(r, "created_before", &f->died_before_ms, errors);
}

/* A cursor is the last place and a hash of the filter it belongs to. */
static uint64_t cursor_hash(const struct letter_filter *f)
{
    const int64_t numbers[] = {f->class, (int64_t)f->fingerprint, (int64_t)f->job_id,
                               f->died_after_ms, f->died_before_ms};
    uint64_t hash = str_hash(str_of((const char *)numbers, sizeof numbers));
    hash = (hash * 31 + str_hash(f->queue)) * 31 + str_hash(f->name);
    return hash >> 1; /* as every id, without the top bit */
}

static bool parse_cursor(struct str text, uint64_t hash, struct letter_place *ret_before)
{
    uint64_t numbers[3];
    if (text.len != CURSOR_LEN)
        return false;
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        if (id_parse(str_of(text.ptr + i * ID_DIGITS, ID_DIGITS), "", &numbers[i], NULL) != RC_OK)
            return false;
    }
    *ret_before = (struct letter_place){(int64_t)numbers[0], numbers[1]};
    return numbers[1] != 0 && numbers[2] == hash;
}

static void put_cursor(struct json_writer *w, const struct letter_call *call,
                       struct letter_place next)
{
    char cursor[CURSOR_LEN + ID_TEXT_MAX];
    if (next.exec_id == 0) {
        json_put_null(w, "next_cursor");
        return;
    }
    id_format(cursor, "", (uint64_t)next.died_ms);
    id_format(cursor + ID_DIGITS, "", next.exec_id);
    id_format(cursor + 2 * ID_DIGITS, "", cursor_hash(&call->filter));
    json_put_str(w, "next_cursor", str_of(cursor, CURSOR_LEN));
}

/* ---- lists */

static void look_letters(struct request *r, struct reader *reader)
{
    const struct letter_call *call = r->own;
    struct letter_page page;
    r->rc = letter_page_read(reader, &call->filter, call->before, r->list.page.limit, r->arena,
                             &page, &r->err);
    if (r->rc != RC_OK)
        return;
    struct json_writer w = JSON_WRITER(&r->body);
    json_open(&w);
    json_key(&w, "dead_letters");
    json_open_array(&w);
    for (size_t i = 0; i < page.count; i++)
        letter_print(&w, &page.letters[i]);
    json_close_array(&w);
    put_cursor(&w, call, page.next);
    if (r->list.total >= 0) {
        json_put_int(&w, "total", r->list.total);
        json_put_bool(&w, "total_is_estimate", r->list.total_is_estimate);
        json_put_when(&w, "as_of", r->list.as_of_ms);
    }
    json_close(&w);
}

static void add_totals(struct request *r, const struct counter *counters, size_t count,
                       int64_t as_of_ms)
{
    const struct letter_call *call = r->own;
    r->list.total = 0;
    r->list.as_of_ms = as_of_ms;
    for (size_t i = 0; i < count; i++) {
        const struct counter *c = &counters[i];
        if (c->kind == COUNTER_LETTERS &&
            (call->filter.queue.len == 0 || str_eq(call->filter.queue, c->queue)))
            r->list.total += c->value;
    }
    struct letter_filter rest = call->filter;
    rest.queue = (struct str){0};
    r->list.total_is_estimate = !letter_filter_is_empty(&rest);
}

static void count_then_look(struct request *r)
{
    const struct stats_view *stats = &r->cmd.reply.stats;
    add_totals(r, stats->counters, stats->counter_count, r->cmd.reply.at_ms);
    request_to_query(r, look_letters);
}

/* Among several servers the engine knows its own part only, and the store all. */
static void count_and_look(struct request *r, struct reader *reader)
{
    struct counter *counters;
    size_t count;
    r->rc = reader->ops->counters(reader, r->arena, &counters, &count, &r->err);
    if (r->rc != RC_OK)
        return;
    add_totals(r, counters, count, clock_wall_ms());
    look_letters(r, reader);
}

void api_letters(struct request *r)
{
    static const char *const params[] = {"limit",         "cursor",         "queue", "name",
                                         "class",         "fingerprint",    "job",   "count",
                                         "created_after", "created_before", NULL};
    struct letter_call *call = call_of(r);
    struct field_errors errors = {0};
    struct str text;
    if (!request_params_known(r, params))
        return;
    read_filter(r, &call->filter, &errors);
    request_page(r, &errors);
    if (http_request_param(r->http, STR("cursor"), &text) &&
        !parse_cursor(text, cursor_hash(&call->filter), &call->before))
        field_error(&errors, r->arena, STR("cursor"),
                    "is not a next_cursor of a list with these filters");
    if (errors.count > 0)
        request_fail_fields(r, &errors);
    else if (r->list.want_total && r->server->membership != NULL)
        request_to_query(r, count_and_look);
    else if (r->list.want_total)
        request_to_board(r, count_then_look);
    else
        request_to_query(r, look_letters);
}

static void look_groups(struct request *r, struct reader *reader)
{
    const struct letter_call *call = r->own;
    struct letter_groups groups;
    size_t scan_max = letter_filter_is_span(&call->filter) ? GROUP_SCAN_MAX : GROUP_FIT_MAX;
    r->rc = reader->ops->letter_groups(reader, &call->filter, scan_max, r->list.page.limit,
                                       r->arena, &groups, &r->err);
    if (r->rc != RC_OK)
        return;
    struct json_writer w = JSON_WRITER(&r->body);
    json_open(&w);
    json_key(&w, "fingerprints");
    json_open_array(&w);
    for (size_t i = 0; i < groups.count; i++)
        letter_group_print(&w, &groups.groups[i]);
    json_close_array(&w);
    json_put_bool(&w, "complete", groups.complete);
    json_close(&w);
}

void api_letter_groups(struct request *r)
{
    static const char *const params[] = {"limit", "queue",         "name",           "class",
                                         "job",   "created_after", "created_before", NULL};
    struct letter_call *call = call_of(r);
    struct field_errors errors = {0};
    if (!request_params_known(r, params))
        return;
    read_filter(r, &call->filter, &errors);
    request_page(r, &errors);
    if (errors.count > 0)
        request_fail_fields(r, &errors);
    else
        request_to_query(r, look_groups);
}

/* ---- one of them */

static void look_letter(struct request *r, struct reader *reader)
{
    struct letter_rec letter;
    struct exec_rec exec;
    struct attempt_rec *attempts;
    struct sla_page told;
    size_t count;
    uint64_t id = r->cmd.target.id;
    r->rc = reader->ops->letter(reader, id, r->arena, &letter, &r->err);
    if (r->rc == RC_OK)
        r->rc = reader->ops->exec(reader, id, r->arena, &exec, &attempts, &count, &r->err);
    if (r->rc == RC_OK)
        r->rc = reader->ops->sla_events(reader, exec.job_id, id, &(struct page){.limit = 100},
                                        r->arena, &told, &r->err);
    if (r->rc != RC_OK)
        return;
    exec_traces_fill(r->server, &exec, 1, r->arena);
    struct json_writer w = JSON_WRITER(&r->body);
    json_open(&w);
    letter_print_fields(&w, &letter);
    json_key(&w, "execution");
    exec_print(&w, &exec, letter.name, attempts, count, told.events, told.count);
    json_close(&w);
}

void api_letter(struct request *r)
{
    if (request_no_params(r) && request_path_id(r, ID_EXEC, &r->cmd.target.id))
        request_to_query(r, look_letter);
}

static void answer_discarded(struct request *r)
{
    struct json_writer w = request_writer(r);
    json_open(&w);
    json_put_id(&w, "execution_id", ID_EXEC, r->cmd.reply.exec_id);
    json_put_id(&w, "job_id", ID_JOB, r->cmd.reply.job_id);
    json_put_when(&w, "discarded_at", r->cmd.reply.at_ms);
    json_close(&w);
    request_answer_body(r, 200);
}

void api_letter_discard(struct request *r)
{
    if (request_target(r))
        request_to_turn(r, answer_discarded);
}

/* ---- many of them */

static void look_count(struct request *r, struct reader *reader)
{
    struct letter_call *call = r->own;
    r->rc = letter_count(reader, &call->filter, &call->count, &r->err);
}

static void count_then_operate(struct request *r)
{
    const struct letter_call *call = r->own;
    if (!call->dry_run) {
        r->cmd.operate.kind = call->kind;
        r->cmd.operate.filter = call->filter;
        r->cmd.operate.counted = true;
        r->cmd.operate.total = call->count;
        operation_begin(r);
        return;
    }
    struct json_writer w = request_writer(r);
    json_open(&w);
    json_put_bool(&w, "dry_run", true);
    json_put_int(&w, "count", (int64_t)call->count);
    json_close(&w);
    request_answer_body(r, 200);
}

static struct once once_of(const struct request *r, const struct letter_filter *filter)
{
    CLEANUP(buf_free) struct buf out = BUF(FILTER_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&out);
    json_open(&w);
    letter_filter_print(&w, filter);
    json_close(&w);
    struct str text = arena_str(r->arena, buf_str(&out));
    return idempotency_of_call(r, &text, 1);
}

static void operate(struct request *r, enum operation_kind kind)
{
    struct letter_call *call = call_of(r);
    struct field_errors errors = {0};
    struct letter_wish wish;
    struct json doc;
    if (!request_json(r, false, &doc))
        return;
    if (letter_wish_parse(&doc, r->arena, &wish, &errors) != RC_OK) {
        request_fail_fields(r, &errors);
        return;
    }
    r->cmd.once = once_of(r, &wish.filter);
    call->kind = kind;
    call->filter = wish.filter;
    call->dry_run = wish.dry_run;
    request_to_query_first(r, look_count, count_then_operate);
}

static void retry_them(struct request *r)
{
    operate(r, OPERATION_RETRY);
}

static void discard_them(struct request *r)
{
    operate(r, OPERATION_DISCARD);
}

/* A name, or a part of an id, as the filter's job becomes an id before anything else. */
static void find_job(struct request *r, request_step *go_on)
{
    struct resolve_texts texts = {0};
    struct json doc;
    if (!request_no_params(r) || !request_json(r, false, &doc))
        return;
    const struct json *filter = doc.kind == JSON_OBJECT ? json_get(&doc, STR("filter")) : NULL;
    if (filter != NULL)
        resolve_add_member(r, &texts, filter, STR("job"), false, "filter.job");
    resolve_body(r, &texts, go_on);
}

void api_letters_retry(struct request *r)
{
    find_job(r, retry_them);
}

void api_letters_discard(struct request *r)
{
    find_job(r, discard_them);
}

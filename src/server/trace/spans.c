#include "server/trace/spans.h"
#include "base/id.h"
#include "base/when.h"
#include "job/record/trail.h"
#include "wire/json/json.h"

#include <assert.h>

/* As OTLP numbers them. */
enum span_kind { SPAN_INTERNAL = 1, SPAN_PRODUCER = 4, SPAN_CONSUMER = 5 };
enum { STATUS_ERROR = 2 };

struct span {
    enum trace_span_kind what;
    uint64_t number;
    const char *name; /* of what is done; the queue stands behind it */
    enum span_kind kind;
    int64_t from_ms;
    int64_t to_ms;
};

/* The spans of one execution, under way. */
struct printing {
    struct json_writer w;
    uint64_t realm;
    const struct trace_record *record;
    bool more; /* a span stands before */
    size_t count;
};

/* ---- pieces
 *
 * A busy server prints a hundred thousand spans a second, so what is always the same is appended
 * as it is; only texts from elsewhere go through the writer, which escapes them. */

static void put(struct printing *p, struct str text)
{
    buf_add(p->w.out, text);
}

static void put_text(struct printing *p, struct str text)
{
    p->w.need_comma = false;
    json_str(&p->w, text);
}

static void put_hex(struct printing *p, uint64_t value)
{
    static const char digits[] = "0123456789abcdef";
    char *at = buf_reserve(p->w.out, TRACE_SPAN_DIGITS);
    if (at == NULL)
        return;
    for (int i = TRACE_SPAN_DIGITS - 1; i >= 0; i--, value >>= 4)
        at[i] = digits[value & 15];
    p->w.out->len += TRACE_SPAN_DIGITS;
}

static void put_nanos(struct printing *p, int64_t at_ms)
{
    buf_add_i64(p->w.out, at_ms);
    put(p, STR("000000"));
}

/* key: our own. */
static void attr_open(struct printing *p, struct str key, struct str type)
{
    char last = p->w.out->len > 0 ? p->w.out->ptr[p->w.out->len - 1] : '[';
    put(p, last == '[' ? STR("{\"key\":\"") : STR(",{\"key\":\""));
    put(p, key);
    put(p, STR("\",\"value\":{\""));
    put(p, type);
    put(p, STR("\":"));
}

static void attr_text(struct printing *p, struct str key, struct str value)
{
    attr_open(p, key, STR("stringValue"));
    put_text(p, value);
    put(p, STR("}}"));
}

/* A 64-bit number is a text in OTLP's JSON. */
static void attr_int(struct printing *p, struct str key, int64_t value)
{
    attr_open(p, key, STR("intValue"));
    put(p, STR("\""));
    buf_add_i64(p->w.out, value);
    put(p, STR("\"}}"));
}

static void attr_id(struct printing *p, struct str key, const char *prefix, uint64_t id)
{
    char text[ID_TEXT_MAX];
    attr_text(p, key, id_format(text, prefix, id));
}

/* ---- a span: opened, its attributes, closed */

static void put_ids(struct printing *p, const struct span *s)
{
    const struct trace_record *r = p->record;
    uint64_t root = trace_span_of(p->realm, r->exec_id, TRACE_SPAN_EXECUTION, 0);
    bool is_root = s->what == TRACE_SPAN_EXECUTION;
    put(p, STR("{\"traceId\":\""));
    put_hex(p, r->trace.id.high);
    put_hex(p, r->trace.id.low);
    put(p, STR("\",\"spanId\":\""));
    put_hex(p, is_root ? root : trace_span_of(p->realm, r->exec_id, s->what, s->number));
    if (!is_root || r->trace.caller != 0) {
        put(p, STR("\",\"parentSpanId\":\""));
        put_hex(p, is_root ? r->trace.caller : root);
    }
    put(p, (r->trace.flags & TRACE_SAMPLED) != 0 ? STR("\",\"flags\":1") : STR("\",\"flags\":0"));
    if (r->trace.state.len > 0) {
        put(p, STR(",\"traceState\":"));
        put_text(p, r->trace.state);
    }
}

static void open_span(struct printing *p, const struct span *s)
{
    char name[256];
    struct buf text = {.ptr = name, .cap = sizeof name, .max = sizeof name};
    if (p->more)
        put(p, STR(","));
    p->more = true;
    p->count++;
    put_ids(p, s);
    buf_add(&text, str_c(s->name));
    buf_add(&text, str_head(p->record->queue, sizeof name - text.len));
    put(p, STR(",\"name\":"));
    put_text(p, buf_str(&text));
    put(p, STR(",\"kind\":"));
    buf_add_i64(p->w.out, s->kind);
    put(p, STR(",\"startTimeUnixNano\":\""));
    put_nanos(p, s->from_ms);
    put(p, STR("\",\"endTimeUnixNano\":\""));
    put_nanos(p, s->to_ms > s->from_ms ? s->to_ms : s->from_ms);
    put(p, STR("\",\"attributes\":["));
}

static void close_span(struct printing *p, bool failed, struct str message)
{
    put(p, STR("]"));
    if (failed) {
        put(p, STR(",\"status\":{\"code\":2"));
        static_assert(STATUS_ERROR == 2, "as the text above says");
        if (message.len > 0) {
            put(p, STR(",\"message\":"));
            put_text(p, message);
        }
        put(p, STR("}"));
    }
    put(p, STR("}"));
}

/* ---- which spans an execution has */

static bool is_failed(enum exec_state state)
{
    return state == EXEC_FAILED || state == EXEC_TIMEOUT || state == EXEC_EXPIRED;
}

/* A slot lies ahead for a long time, and nobody waits for it until its moment has come. */
static int64_t begin_ms(const struct trace_record *r)
{
    bool of_slot = r->origin == ORIGIN_SLOT && r->slot_ms > r->created_ms;
    int64_t begin_ms = of_slot ? r->slot_ms : r->created_ms;
    return begin_ms < r->finished_ms ? begin_ms : r->finished_ms;
}

static void put_error_type(struct printing *p, enum failure_class class, struct str otherwise)
{
    attr_text(p, STR("error.type"), class != FAILURE_NONE ? failure_name(class) : otherwise);
}

static void print_execution(struct printing *p, const struct attempt_rec *last)
{
    const struct trace_record *r = p->record;
    bool failed = is_failed(r->state);
    open_span(p, &(struct span){TRACE_SPAN_EXECUTION, 0, "execute ", SPAN_INTERNAL, begin_ms(r),
                                r->finished_ms});
    put(p, STR("{\"key\":\"messaging.system\",\"value\":{\"stringValue\":\"belfry\"}}"));
    attr_text(p, STR("messaging.destination.name"), r->queue);
    attr_id(p, STR("messaging.message.id"), ID_EXEC, r->exec_id);
    attr_id(p, STR("belfry.job.id"), ID_JOB, r->job_id);
    if (r->job.len > 0)
        attr_text(p, STR("belfry.job.name"), r->job);
    if (r->handler.len > 0)
        attr_text(p, STR("belfry.handler"), r->handler);
    attr_text(p, STR("belfry.state"), exec_state_name(r->state));
    attr_text(p, STR("belfry.origin"), origin_name(r->origin));
    attr_int(p, STR("belfry.attempts"), r->attempts);
    if (r->origin == ORIGIN_SLOT) {
        char when[WHEN_TEXT_MAX];
        attr_text(p, STR("belfry.slot"), when_format(when, r->slot_ms));
    }
    if (r->retry_of != 0)
        attr_id(p, STR("belfry.retry_of"), ID_EXEC, r->retry_of);
    if (failed)
        put_error_type(p, last != NULL ? last->class : FAILURE_NONE, exec_state_name(r->state));
    close_span(p, failed, r->error);
}

/* A moment: when the server kept it. */
static void print_submit(struct printing *p)
{
    const struct trace_record *r = p->record;
    if (r->origin == ORIGIN_SLOT)
        return;
    open_span(p, &(struct span){TRACE_SPAN_SUBMIT, 0, "submit ", SPAN_PRODUCER, r->created_ms,
                                r->created_ms});
    put(p, STR("{\"key\":\"messaging.operation.type\",\"value\":{\"stringValue\":\"create\"}}"));
    close_span(p, false, STR(""));
}

/* What something in this state waits for; empty: it does not wait. */
static struct str waits_for(struct str state)
{
    enum exec_state which;
    if (!exec_state_parse(state, &which))
        return STR("");
    switch (which) {
    case EXEC_SCHEDULED: return STR("time");
    case EXEC_BLOCKED: return STR("other");
    case EXEC_RETRYING: return STR("backoff");
    case EXEC_QUEUED: return STR("line"); /* for a worker, or until a limit has room */
    default: return STR("");
    }
}

struct wait {
    struct str what;
    struct str reason; /* as the trail says; may be empty */
    int64_t from_ms;
    int64_t to_ms;
};

static void print_wait(struct printing *p, size_t number, const struct wait *wait)
{
    int64_t from_ms = wait->from_ms > begin_ms(p->record) ? wait->from_ms : begin_ms(p->record);
    if (wait->what.len == 0 || wait->to_ms <= from_ms)
        return;
    open_span(
        p, &(struct span){TRACE_SPAN_WAIT, number, "wait ", SPAN_INTERNAL, from_ms, wait->to_ms});
    attr_text(p, STR("belfry.wait.for"), wait->what);
    if (wait->reason.len > 0)
        attr_text(p, STR("belfry.wait.reason"), wait->reason);
    close_span(p, false, STR(""));
}

/* Each step of the trail begins what the execution did until the next one. */
static void print_waits(struct printing *p, struct str trail)
{
    struct trail_step step;
    struct wait wait = {0};
    size_t number = 0;
    while (trail_next(&trail, &step)) {
        struct str what = waits_for(step.state);
        if (str_eq(what, wait.what) && what.len > 0)
            continue; /* a note, or another reason for the same */
        wait.to_ms = step.at_ms;
        print_wait(p, number++, &wait);
        wait = (struct wait){what, step.reason, step.at_ms, 0};
    }
    wait.to_ms = p->record->finished_ms;
    print_wait(p, number, &wait);
}

/* The same of an execution that went its way without a detour. */
static void print_plain_waits(struct printing *p)
{
    const struct trace_record *r = p->record;
    int64_t ended_ms = r->attempt.token != 0 ? r->attempt.started_ms : r->finished_ms;
    if (r->ready_ms == 0)
        return;
    print_wait(p, 0, &(struct wait){STR("time"), STR(""), r->created_ms, r->ready_ms});
    print_wait(p, 1, &(struct wait){STR("line"), STR(""), r->ready_ms, ended_ms});
}

static bool has_failed(enum outcome outcome)
{
    return outcome == OUTCOME_FAILED || outcome == OUTCOME_PERMANENT ||
           outcome == OUTCOME_TIMEOUT || outcome == OUTCOME_LOST;
}

static void print_attempt(struct printing *p, const struct attempt_rec *a)
{
    bool failed = has_failed(a->outcome);
    open_span(p, &(struct span){TRACE_SPAN_ATTEMPT, a->token, "process ", SPAN_CONSUMER,
                                a->started_ms, a->ended_ms});
    put(p, STR("{\"key\":\"messaging.operation.type\",\"value\":{\"stringValue\":\"process\"}}"));
    attr_int(p, STR("belfry.attempt"), a->number);
    attr_text(p, STR("belfry.outcome"), outcome_name(a->outcome));
    if (a->worker_id != 0)
        attr_id(p, STR("belfry.worker.id"), ID_WORKER, a->worker_id);
    if (a->usage.exit_code >= 0)
        attr_int(p, STR("process.exit.code"), a->usage.exit_code);
    if (a->usage.signal > 0)
        attr_int(p, STR("belfry.signal"), a->usage.signal);
    if (failed)
        put_error_type(p, a->class, outcome_name(a->outcome));
    close_span(p, failed, a->error);
}

size_t spans_print(struct buf *out, uint64_t realm, const struct trace_record *record,
                   const struct trace_past *past, bool more)
{
    struct printing p = {.w = JSON_WRITER(out), .realm = realm, .record = record, .more = more};
    bool has_one = record->attempt.token != 0;
    const struct attempt_rec *attempts =
        past->attempt_count > 0 ? past->attempts : &record->attempt;
    size_t count = past->attempt_count > 0 ? past->attempt_count : has_one;
    print_execution(&p, count > 0 ? &attempts[count - 1] : NULL);
    print_submit(&p);
    if (past->trail.len > 0)
        print_waits(&p, past->trail);
    else
        print_plain_waits(&p);
    for (size_t i = 0; i < count; i++)
        print_attempt(&p, &attempts[i]);
    return p.count;
}

/* ---- around them */

void spans_begin(struct buf *out, const struct span_source *source)
{
    struct printing p = {.w = JSON_WRITER(out)};
    put(&p, STR("{\"resourceSpans\":[{\"resource\":{\"attributes\":["));
    attr_text(&p, STR("service.name"), source->service);
    attr_text(&p, STR("service.version"), STR(BELFRY_VERSION));
    attr_text(&p, STR("service.instance.id"), source->node);
    put(&p, STR("]},\"scopeSpans\":[{\"scope\":{\"name\":\"belfry\",\"version\":"));
    put_text(&p, STR(BELFRY_VERSION));
    put(&p, STR("},\"spans\":["));
}

void spans_end(struct buf *out)
{
    buf_add(out, STR("]}]}]}"));
}

#include "server/output/followers.h"
#include "base/id.h"
#include "base/log.h"
#include "base/mem.h"
#include "loop/clock.h"
#include "server/call/net.h"
#include "server/output/log_reader.h"
#include "wire/http/sse.h"
#include "wire/message/record_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    PAGE_BYTES = 64 << 10,
    PIECE_BYTES_MAX = 8 << 20, /* a page as JSON, six bytes for each in the worst case */
    UNSENT_HIGH = 1 << 20,     /* a reader with more than this unread has to wait */
    PAGE_EVENTS = 500,
    LOOK_EVENTS = 10000, /* of which a filter may let few through */
    PIECE_LINES_BYTES = 1 << 20,
    LINE_ID_MAX = 96,
};

/* Output until its execution is final. */
static bool is_output(const struct follow *f)
{
    return f->kind == FOLLOW_OUTPUT || f->kind == FOLLOW_LINES;
}

/* ---- pieces: from the tail to the net thread */

struct piece {
    struct parcel parcel;
    struct request *request;
    struct buf data; /* owned */
    struct ink *ink; /* instead of data: held */
    bool last;
    bool broken; /* the last one, although something is missing */
};

static const char *content_type(const struct follow *f)
{
    return f->kind == FOLLOW_TEXT ? "text/plain; charset=utf-8" : SSE_TYPE;
}

/* On the net thread: the tail still has the follow, so the request must stay until the tail has
 * answered. One that was cut off leaves a second time when its client does. */
static void on_gone(struct request *r)
{
    struct follow *f = r->follow;
    if (f->leaving)
        return;
    f->leaving = true;
    if (mailbox_send_always(r->server->tail->box, &f->goodbye.mail) != RC_OK)
        f->leaving = false; /* the tail has ended; its last piece is on the way */
}

struct ink *ink_new(struct buf *take_text)
{
    struct ink *ink = MEM_NEW(struct ink);
    atomic_init(&ink->holders, 1);
    ink->text = *take_text;
    return ink;
}

void ink_release(struct ink *ink)
{
    if (ink == NULL || atomic_fetch_sub(&ink->holders, 1) > 1)
        return;
    buf_free(&ink->text);
    free(ink);
}

static struct str text_of(const struct piece *p)
{
    return p->ink != NULL ? buf_str(&p->ink->text) : buf_str(&p->data);
}

static void deliver_piece(struct parcel *parcel)
{
    struct piece *p = CONTAINER_OF(parcel, struct piece, parcel);
    struct request *r = p->request;
    struct follow *f = r->follow;
    if (!f->open) {
        f->open = true;
        net_stream_open(r, content_type(f), &f->unsent, on_gone);
    }
    /* Nothing may follow a hole: its id would be what the reader resumes behind. */
    if (!f->broken)
        f->broken = http_stream_write(r->http, text_of(p)) == RC_BUSY || p->broken;
    atomic_store(&f->unsent, http_stream_unsent(r->http));
    atomic_fetch_sub(&f->mailed, text_of(p).len);
    if (f->broken && !p->last)
        on_gone(r);
    bool close = p->last && !f->leaving;
    buf_free(&p->data);
    ink_release(p->ink);
    free(p);
    if (close)
        net_stream_close(r, f->broken);
}

enum piece_kind { PIECE_MORE, PIECE_LAST, PIECE_BROKEN };

static void send_piece(struct follow *f, struct buf *take_data, enum piece_kind kind)
{
    struct piece *p = MEM_NEW(struct piece);
    p->parcel.deliver = deliver_piece;
    p->request = f->request;
    p->data = *take_data;
    p->last = kind != PIECE_MORE;
    p->broken = kind == PIECE_BROKEN;
    atomic_fetch_add(&f->mailed, p->data.len);
    net_send(f->request->net, &p->parcel);
}

void followers_send(struct follow *f, struct ink *ink)
{
    struct piece *p = MEM_NEW(struct piece);
    p->parcel.deliver = deliver_piece;
    p->request = f->request;
    p->ink = ink;
    if (ink != NULL) {
        atomic_fetch_add(&ink->holders, 1);
        atomic_fetch_add(&f->mailed, ink->text.len);
    }
    net_send(f->request->net, &p->parcel);
}

static void deliver_closed(struct parcel *parcel)
{
    struct follow *f = CONTAINER_OF(parcel, struct follow, closed);
    net_stream_close(f->request, f->broken);
}

/* Nothing is sent to it any more. */
static void forget(struct follow *f)
{
    if (f->kind == FOLLOW_SUMMARY)
        feed_leave(f->request->server->tail->feed, f);
    else
        list_remove(&f->node);
    if (f->filter != NULL)
        event_filter_free(f->filter);
    free(f->filter);
    f->filter = NULL;
    line_cutter_free(&f->cutter);
}

/* On the tail thread: the reader is gone. */
static void deliver_goodbye(struct parcel *parcel)
{
    struct follow *f = CONTAINER_OF(parcel, struct follow, goodbye);
    forget(f);
    f->closed.deliver = deliver_closed;
    net_send(f->request->net, &f->closed);
}

static void end(struct follow *f, struct buf *take_data)
{
    forget(f);
    send_piece(f, take_data, PIECE_LAST);
}

/* ---- output */

static bool reached(struct log_place place, struct log_place last)
{
    if (last.seq == 0) /* the last attempt printed nothing */
        return true;
    return place.token != last.token ? place.token > last.token : place.seq >= last.seq;
}

static bool is_wanted(const struct follow *f, uint32_t attempt, enum log_stream stream)
{
    return (f->attempt == 0 || attempt == f->attempt) &&
           (f->stream == 0 || (unsigned)stream == f->stream);
}

/* Behind the newest line: what Last-Event-ID says to go on from there. */
static void print_line_id(const struct line_cutter *c, char *ret_id, size_t max)
{
    snprintf(ret_id, max, "%" PRIu64 ".%" PRIu64 ".%" PRIu64 ".%" PRIu64, c->at.token, c->at.seq,
             c->at.skip, c->at.count);
}

/* Its number is already that within the attempt: the cutter began with what came before. */
static void print_line(struct follow *f, const struct log_line *line, struct buf *out)
{
    char id[LINE_ID_MAX];
    CLEANUP(buf_free) struct buf json = BUF(PIECE_BYTES_MAX);
    if (!is_wanted(f, f->cut_attempt, line->stream))
        return;
    log_line_print(&json, 0, f->cut_attempt, 0, line);
    print_line_id(&f->cutter, id, sizeof id);
    sse_print(out, str_c(id), STR("line"), buf_str(&json));
}

/* Nothing of this token follows, so what is left is its last line. */
static void end_lines(struct follow *f, struct buf *out)
{
    struct log_line line;
    if (f->cutter.at.token != 0 && line_cutter_end(&f->cutter, &line))
        print_line(f, &line, out);
}

static void begin_lines(struct follow *f, const struct log_chunk *chunk, struct buf *out)
{
    struct line_place begin = {.token = chunk->token, .seq = 1};
    end_lines(f, out);
    if (chunk->attempt == f->cut_attempt)
        begin.count = f->cutter.at.count;
    line_cutter_free(&f->cutter);
    line_cutter_init(&f->cutter, &begin);
}

/* False: that is enough for one piece; reading goes on behind the newest line. A chunk of nothing
 * but line breaks becomes a hundred times as much. */
static bool print_lines(struct follow *f, const struct log_chunk *chunk, struct buf *out)
{
    struct log_line line;
    if (chunk->token != f->cutter.at.token)
        begin_lines(f, chunk, out);
    f->cut_attempt = chunk->attempt;
    line_cutter_feed(&f->cutter, chunk);
    while (line_cutter_next(&f->cutter, &line)) {
        print_line(f, &line, out);
        if (out->len < PIECE_LINES_BYTES)
            continue;
        struct line_place at = f->cutter.at;
        line_cutter_free(&f->cutter);
        line_cutter_init(&f->cutter, &at);
        f->place = (struct log_place){at.token, at.seq - 1};
        return false;
    }
    f->place = (struct log_place){chunk->token, chunk->seq};
    return true;
}

/* Of the first chunk, only what is behind the place to begin. */
static struct log_chunk behind_start(const struct follow *f, const struct log_chunk *chunk)
{
    struct log_chunk rest = *chunk;
    if (chunk->token == f->from.token && chunk->seq == f->from.seq)
        rest.bytes = str_from(chunk->bytes, f->from.skip);
    return rest;
}

static void print_chunk(struct follow *f, const struct log_chunk *whole, struct buf *out)
{
    struct log_chunk rest = behind_start(f, whole);
    const struct log_chunk *chunk = &rest;
    if (!is_wanted(f, chunk->attempt, chunk->stream) ||
        (rest.bytes.len == 0 && whole->bytes.len > 0))
        return;
    if (f->kind == FOLLOW_TEXT) {
        buf_add(out, chunk->bytes);
        return;
    }
    char id[48];
    CLEANUP(buf_free) struct buf json = BUF(PIECE_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&json);
    log_chunk_print(&w, chunk);
    snprintf(id, sizeof id, "%" PRIu64 ".%" PRIu64, chunk->token, chunk->seq);
    sse_print(out, str_c(id), STR("log"), buf_str(&json));
}

static void print_end(struct follow *f, struct buf *out)
{
    char id[LINE_ID_MAX];
    end_lines(f, out);
    CLEANUP(buf_free) struct buf json = BUF(PAGE_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    json_open(&w);
    json_put_str(&w, "status", exec_state_name(f->state));
    json_close(&w);
    if (f->kind == FOLLOW_LINES)
        print_line_id(&f->cutter, id, sizeof id);
    else
        snprintf(id, sizeof id, "%" PRIu64 ".%" PRIu64, f->last.token, f->last.seq);
    sse_print(out, str_c(id), STR("end"), buf_str(&json));
}

/* Nothing more to read for now: is that the end? */
static void at_end(struct output_log *t, struct follow *f)
{
    struct buf out = BUF(PIECE_BYTES_MAX);
    if (f->kind == FOLLOW_TEXT) {
        end(f, &out);
    } else if (f->final &&
               (reached(f->place, f->last) || clock_boot_ms() - f->final_ms > LAST_CHUNK_WAIT_MS)) {
        print_end(f, &out);
        end(f, &out);
    } else {
        f->awake = f->final; /* the last of it is still on its way */
        t->lagging = t->lagging || f->final;
    }
}

/* True when there may be more to read at once. The follow may be gone when it is false. */
static bool pump_output(struct output_log *t, struct follow *f)
{
    struct log_chunk *chunks = NULL;
    size_t count = 0;
    struct err err;
    enum rc rc = t->logs->ops->read(t->logs, f->exec_id, f->place, PAGE_BYTES, &t->arena, &chunks,
                                    &count, &err);
    struct buf out = BUF(PIECE_BYTES_MAX);
    if (rc != RC_OK) {
        char exec_id[ID_TEXT_MAX];
        log_error("output could not be read", "execution_id",
                  id_format(exec_id, ID_EXEC, f->exec_id).ptr, "error", err.text, NULL);
        forget(f);
        send_piece(f, &out, PIECE_BROKEN);
        return false;
    }
    if (count == 0) {
        at_end(t, f);
        return false;
    }
    bool enough = false;
    for (size_t i = 0; i < count && !enough; i++) {
        if (f->kind == FOLLOW_LINES)
            enough = !print_lines(f, &chunks[i], &out);
        else
            print_chunk(f, &chunks[i], &out);
    }
    if (f->kind != FOLLOW_LINES)
        f->place = (struct log_place){chunks[count - 1].token, chunks[count - 1].seq};
    send_piece(f, &out, PIECE_MORE);
    return true;
}

static void note_final(struct follow *f, enum exec_state state, struct log_place last)
{
    f->final = true;
    f->awake = true;
    f->state = state;
    f->last = last;
    f->final_ms = clock_boot_ms();
}

/* ---- events */

static void print_event(const struct event *event, uint64_t number, struct buf *out)
{
    char id[24];
    CLEANUP(buf_free) struct buf json = BUF(PAGE_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    event_print(&w, event);
    snprintf(id, sizeof id, "%" PRIu64, number);
    sse_print(out, str_c(id), event_kind(event), buf_str(&json));
}

/* The reader's next number lies outside of what is remembered: it must look at everything anew. */
static void print_reset(struct output_log *t, struct follow *f, struct buf *out)
{
    char id[24];
    f->event = t->event_next - 1;
    snprintf(id, sizeof id, "%" PRIu64, f->event);
    sse_print(out, str_c(id), STR("reset"), STR("{}"));
}

/* True when there is more. */
static bool pump_events(struct output_log *t, struct follow *f)
{
    struct buf out = BUF(PIECE_BYTES_MAX);
    if (f->event + 1 < t->event_first || f->event + 1 > t->event_next)
        print_reset(t, f, &out);
    int looked = 0;
    for (int sent = 0; sent < PAGE_EVENTS && looked < LOOK_EVENTS; looked++) {
        if (f->event + 1 >= t->event_next)
            break;
        f->event++;
        const struct event *event = &t->ring[f->event % EVENTS_KEPT];
        if (f->filter != NULL && !event_filter_fits(f->filter, event))
            continue;
        print_event(event, f->event, &out);
        sent++;
    }
    f->awake = f->event + 1 < t->event_next;
    if (out.len > 0)
        send_piece(f, &out, PIECE_MORE);
    return f->awake;
}

/* ---- all of them */

void followers_pump(struct output_log *t)
{
    bool again = true;
    t->lagging = false;
    while (again) {
        again = false;
        LIST_EACH(&t->follows, node)
        {
            struct follow *f = CONTAINER_OF(node, struct follow, node);
            if (!f->awake)
                continue;
            if (f->head_only) {
                struct buf nothing = BUF(0);
                end(f, &nothing);
                continue;
            }
            if (follow_unread(f) > UNSENT_HIGH) {
                t->lagging = true;
                continue;
            }
            bool more = f->kind == FOLLOW_EVENTS ? pump_events(t, f) : pump_output(t, f);
            again = again || more;
            arena_reset(&t->arena);
        }
        again = again && mailbox_len(t->box) == 0; /* mail first */
    }
}

void followers_output(struct output_log *t, uint64_t exec_id)
{
    LIST_EACH(&t->follows, node)
    {
        struct follow *f = CONTAINER_OF(node, struct follow, node);
        if (f->exec_id == exec_id)
            f->awake = true;
    }
}

void followers_look(struct output_log *t)
{
    LIST_EACH(&t->follows, node)
    {
        struct follow *f = CONTAINER_OF(node, struct follow, node);
        f->awake = f->awake || is_output(f);
    }
}

void followers_event(struct output_log *t, const struct event *event)
{
    t->ring[t->event_next % EVENTS_KEPT] = *event;
    t->event_next++;
    if (t->event_next - t->event_first > EVENTS_KEPT)
        t->event_first = t->event_next - EVENTS_KEPT;
    feed_event(t->feed, event);
    series_event(t->series, event);
    LIST_EACH(&t->follows, node)
    {
        struct follow *f = CONTAINER_OF(node, struct follow, node);
        if (f->kind == FOLLOW_EVENTS)
            f->awake = true;
        else if (f->exec_id == event->exec_id && exec_is_final(event->state))
            note_final(f, event->state, (struct log_place){event->token, event->log_seq});
    }
}

/* The attempt that a token is of; 0: none that is known. An attempt that was lost or given back has
 * another token when it is run again. */
static uint32_t attempt_of(const struct exec_rec *exec, const struct attempt_rec *attempts,
                           size_t count, uint64_t token)
{
    for (size_t i = 0; i < count; i++) {
        if (attempts[i].token == token)
            return attempts[i].number;
    }
    return token != 0 && token == exec->token ? exec->attempts : 0;
}

/* An end that this read does not see yet comes as an event: it is told after its commit, so its
 * mail is delivered after this one, when the follow is on the list. */
static enum rc start_output(struct output_log *t, struct follow *f, struct err *err)
{
    struct exec_rec exec;
    struct attempt_rec *attempts;
    size_t count;
    TRY(t->reader->ops->exec(t->reader, f->exec_id, &t->arena, &exec, &attempts, &count, err));
    struct log_place last = {0};
    f->cut_attempt = attempt_of(&exec, attempts, count, f->from.token);
    if (count > 0)
        last = (struct log_place){attempts[count - 1].token, attempts[count - 1].usage.log_seq};
    if (exec_is_final(exec.state))
        note_final(f, exec.state, last);
    return RC_OK;
}

/* It was checked when it came. */
static void read_filter(struct follow *f)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct field_errors errors = {0};
    struct str rest = f->filter_text;
    f->filter = MEM_NEW(struct event_filter);
    while (rest.len > 0) {
        struct str value = str_cut(&rest, '&');
        struct str name = str_cut(&value, '=');
        event_filter_add(f->filter, arena_zstr(&arena, name), value, &errors, &arena);
    }
    event_filter_end(f->filter);
}

/* A reader of the summary is the feed's. */
static void start_summary(struct output_log *t, struct follow *f)
{
    struct request *r = f->request;
    struct buf nothing = BUF(0);
    r->rc = feed_join(t->feed, f, &r->err);
    if (r->rc == RC_OK && f->head_only)
        end(f, &nothing);
    else if (r->rc != RC_OK) {
        event_filter_free(f->filter);
        free(f->filter);
        f->filter = NULL;
        request_send_home(r);
    }
}

void followers_start(struct parcel *parcel)
{
    struct request *r = CONTAINER_OF(parcel, struct request, parcel);
    struct output_log *t = r->server->tail;
    struct follow *f = r->follow;
    f->request = r;
    f->awake = true;
    f->goodbye.deliver = deliver_goodbye;
    if (f->kind == FOLLOW_EVENTS || f->kind == FOLLOW_SUMMARY)
        read_filter(f);
    if (f->kind == FOLLOW_SUMMARY) {
        start_summary(t, f);
        return;
    }
    if (f->kind == FOLLOW_EVENTS) {
        if (f->from_now)
            f->event = t->event_next - 1;
    } else {
        if (f->from.token != 0) {
            f->place = (struct log_place){f->from.token, f->from.seq - 1};
            line_cutter_init(&f->cutter, &f->from);
        }
        r->rc = start_output(t, f, &r->err);
        arena_reset(&t->arena);
        if (r->rc != RC_OK) {
            request_send_home(r);
            return;
        }
    }
    struct buf nothing = BUF(0);
    list_push_back(&t->follows, &f->node);
    send_piece(f, &nothing,
               PIECE_MORE); /* begins the answer, so that the reader knows it is heard */
}

void followers_moved(struct output_log *t, const struct partition_set *owned)
{
    LIST_EACH(&t->follows, node)
    {
        struct follow *f = CONTAINER_OF(node, struct follow, node);
        struct buf nothing = BUF(0);
        if (!is_output(f) || partition_has(owned, f->exec_id))
            continue;
        forget(f);
        send_piece(f, &nothing, PIECE_BROKEN);
    }
}

void followers_end_all(struct output_log *t)
{
    for (struct follow *f; (f = feed_first(t->feed)) != NULL;) {
        struct buf nothing = BUF(0);
        end(f, &nothing);
    }
    for (struct list_node *node; (node = list_first(&t->follows)) != NULL;) {
        struct buf nothing = BUF(0);
        end(CONTAINER_OF(node, struct follow, node), &nothing);
    }
}

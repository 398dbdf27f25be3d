#include "worker/link/output.h"
#include "base/mem.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    TAIL_BYTES_MAX = 1 << 20,
    JOIN_MS = 200, /* of one piece: its time is that of its first byte */
    NOTE_BYTES_MAX = 1024,
};

struct output *output_new(uint64_t worker_id, const struct poll_lease *lease, size_t bytes_max)
{
    struct output *o = MEM_NEW(struct output);
    o->worker_id = worker_id;
    o->exec_id = lease->exec_id;
    o->token = lease->token;
    o->attempt = lease->attempt;
    o->tail_max_bytes = bytes_max / 4 < TAIL_BYTES_MAX ? bytes_max / 4 : TAIL_BYTES_MAX;
    o->head_left_bytes = bytes_max - o->tail_max_bytes;
    list_init(&o->ready);
    list_init(&o->tail);
    return o;
}

/* Takes the first off the list; NULL when that is empty. */
static struct piece *pop(struct list *list)
{
    struct list_node *node = list_pop_front(list);
    return node == NULL ? NULL : CONTAINER_OF(node, struct piece, node);
}

/* The list must not be empty. */
static struct piece *last(const struct list *list)
{
    return CONTAINER_OF(list->head.prev, struct piece, node);
}

/* Not for one that is on a list. */
static void piece_free(struct piece *piece)
{
    assert(!list_linked(&piece->node));
    buf_free(&piece->bytes);
    free(piece);
}

static void free_all(struct list *pieces)
{
    LIST_EACH(pieces, node)
    {
        list_remove(node);
        piece_free(CONTAINER_OF(node, struct piece, node));
    }
}

void output_free(struct output *o)
{
    if (o == NULL)
        return;
    list_remove(&o->node);
    free_all(&o->ready);
    free_all(&o->tail);
    free(o);
}

/* True when more of this stream, printed now, belongs into the last piece. */
static bool can_join(const struct list *list, enum log_stream stream, int64_t now_ms)
{
    if (list_empty(list))
        return false;
    const struct piece *piece = last(list);
    return piece->stream == stream && now_ms - piece->at_ms <= JOIN_MS &&
           piece->bytes.len < OUTPUT_PIECE_BYTES_MAX;
}

static void add_piece(struct output *o, struct list *list, enum log_stream stream, int64_t now_ms)
{
    struct piece *piece = MEM_NEW(struct piece);
    piece->output = o;
    piece->stream = stream;
    piece->at_ms = now_ms;
    piece->bytes = BUF(OUTPUT_PIECE_BYTES_MAX);
    piece->seq = list == &o->ready ? ++o->seq : 0; /* the tail is numbered when it is ready */
    list_push_back(list, &piece->node);
}

/* Adds up to a piece's size of bytes at the end of the list; returns how many. */
static size_t add_some(struct output *o, struct list *list, enum log_stream stream,
                       struct str bytes, int64_t now_ms)
{
    if (!can_join(list, stream, now_ms))
        add_piece(o, list, stream, now_ms);
    struct piece *piece = last(list);
    size_t room = OUTPUT_PIECE_BYTES_MAX - piece->bytes.len;
    size_t len = bytes.len < room ? bytes.len : room;
    buf_add(&piece->bytes, str_of(bytes.ptr, len));
    return len;
}

static void add_ready(struct output *o, enum log_stream stream, struct str bytes, int64_t now_ms)
{
    o->unsent_bytes += bytes.len;
    while (bytes.len > 0)
        bytes = str_from(bytes, add_some(o, &o->ready, stream, bytes, now_ms));
}

/* Drops the oldest pieces of the tail, down to its size. */
static void trim_tail(struct output *o)
{
    while (o->tail_bytes > o->tail_max_bytes) {
        struct piece *oldest = pop(&o->tail);
        assert(oldest != NULL); /* tail_bytes counts them */
        o->tail_bytes -= oldest->bytes.len;
        if (oldest->stream != LOG_NOTE)
            o->dropped_bytes += oldest->bytes.len;
        piece_free(oldest);
    }
}

static void add_tail(struct output *o, enum log_stream stream, struct str bytes, int64_t now_ms)
{
    while (bytes.len > 0) {
        size_t len = add_some(o, &o->tail, stream, bytes, now_ms);
        bytes = str_from(bytes, len);
        o->tail_bytes += len;
        trim_tail(o);
    }
}

bool output_is_full(const struct output *o)
{
    return o->head_left_bytes == 0;
}

void output_add(struct output *o, enum log_stream stream, struct str bytes, int64_t now_ms)
{
    size_t head = bytes.len < o->head_left_bytes ? bytes.len : o->head_left_bytes;
    o->total_bytes += bytes.len;
    o->head_left_bytes -= head;
    add_ready(o, stream, str_of(bytes.ptr, head), now_ms);
    add_tail(o, stream, str_from(bytes, head), now_ms);
}

void output_note(struct output *o, int64_t now_ms, const char *format, ...)
{
    char text[NOTE_BYTES_MAX];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof(text) - 1, format, args);
    va_end(args);
    if (len > (int)sizeof(text) - 2)
        len = (int)sizeof(text) - 2;
    text[len] = '\n';
    struct str line = str_of(text, (size_t)len + 1);
    if (output_is_full(o))
        add_tail(o, LOG_NOTE, line, now_ms);
    else
        add_ready(o, LOG_NOTE, line, now_ms);
}

void output_finish(struct output *o, int64_t now_ms)
{
    if (o->dropped_bytes > 0) {
        char text[64];
        int len = snprintf(text, sizeof(text), "%" PRIu64 LOG_DROPPED_NOTE "\n", o->dropped_bytes);
        add_ready(o, LOG_NOTE, str_of(text, (size_t)len), now_ms);
    }
    LIST_EACH(&o->tail, node)
    {
        CONTAINER_OF(node, struct piece, node)->seq = ++o->seq;
    }
    list_splice_back(&o->ready, &o->tail);
    o->unsent_bytes += o->tail_bytes;
    o->tail_bytes = 0;
}

struct piece *output_take(struct output *o)
{
    return pop(&o->ready);
}

void output_sent(struct piece *take_piece)
{
    struct output *o = take_piece->output;
    assert(o->unsent_bytes >= take_piece->bytes.len);
    o->unsent_bytes -= take_piece->bytes.len;
    piece_free(take_piece);
}

struct log_chunk piece_chunk(const struct piece *piece)
{
    return (struct log_chunk){
        .exec_id = piece->output->exec_id,
        .token = piece->output->token,
        .attempt = piece->output->attempt,
        .seq = piece->seq,
        .stream = piece->stream,
        .at_ms = piece->at_ms,
        .bytes = buf_str(&piece->bytes),
    };
}

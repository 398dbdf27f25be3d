#include "server/output/log_index.h"
#include "base/mem.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum {
    PAGE_BYTES = 256 << 10,    /* to read some lines, */
    LONG_PAGE_BYTES = 1 << 20, /* or all there are */
    CHUNK_COST = 256,          /* beside its bytes, in bytes */
    MARK_BYTES = 64 << 10,     /* of text between two marks, … */
    MARK_LINES = 1024,         /* … or so many lines */
};

struct mark {
    struct line_place place;
    struct line_counts counts;
};

/* Of one token. */
struct entry {
    uint64_t exec_id;
    uint64_t token;
    uint64_t used;      /* when: the largest was used last */
    struct mark *marks; /* owned; the first is the beginning */
    size_t count;
    size_t cap;
    struct mark end;    /* so far it was read */
    uint64_t first_seq; /* the oldest chunk, */
    uint64_t last_seq;  /* and the newest */
    bool loose;         /* chunks are missing, and may still come: nothing is kept */
    bool gap;           /* chunks are missing before `end` */
    bool paused;        /* it is being counted */
};

struct log_index {
    struct logs *logs;  /* borrowed */
    struct arena arena; /* of one page */
    struct entry entries[LOG_TOKENS_MAX];
    size_t count;
    size_t marks; /* of all entries */
    uint64_t uses;
    uint64_t left; /* bytes to count before the next pause */
    bool paused;
};

struct log_index *log_index_new(struct logs *logs)
{
    struct log_index *ix = MEM_NEW(struct log_index);
    ix->logs = logs;
    ix->left = UINT64_MAX;
    return ix;
}

void log_index_slice(struct log_index *ix, uint64_t bytes)
{
    ix->left = bytes;
    ix->paused = false;
}

bool log_index_paused(const struct log_index *ix)
{
    return ix->paused;
}

static void drop_marks(struct log_index *ix, struct entry *e)
{
    ix->marks -= e->count;
    free(e->marks);
    e->marks = NULL;
    e->count = e->cap = 0;
}

void log_index_free(struct log_index *ix)
{
    if (ix == NULL)
        return;
    for (size_t i = 0; i < ix->count; i++)
        drop_marks(ix, &ix->entries[i]);
    arena_free(&ix->arena);
    free(ix);
}

/* ---- what is kept */

/* Of those that have marks, if it is for these. */
static struct entry *least_used(struct log_index *ix, const struct entry *but)
{
    struct entry *least = NULL;
    for (size_t i = 0; i < ix->count; i++) {
        struct entry *e = &ix->entries[i];
        if (e != but && (but == NULL || e->count > 0) && (least == NULL || e->used < least->used))
            least = e;
    }
    return least;
}

/* All of them are of one output: every other one is kept, which is twice the way to a line. */
static void thin_out(struct log_index *ix, struct entry *e)
{
    size_t kept = 0;
    for (size_t i = 0; i < e->count; i += 2)
        e->marks[kept++] = e->marks[i];
    ix->marks -= e->count - kept;
    e->count = kept;
}

static void add_mark(struct log_index *ix, struct entry *e, const struct mark *mark)
{
    if (e->count == LOG_MARKS_MAX)
        thin_out(ix, e);
    while (ix->marks >= LOG_MARKS_MAX) {
        struct entry *least = least_used(ix, e);
        least->used = 0; /* its place is taken next, too */
        drop_marks(ix, least);
        least->exec_id = 0;
    }
    if (e->count == e->cap) {
        e->cap = e->cap == 0 ? 8 : 2 * e->cap;
        e->marks = mem_resize(e->marks, e->cap * sizeof *e->marks);
    }
    e->marks[e->count++] = *mark;
    ix->marks++;
}

static void begin_anew(struct log_index *ix, struct entry *e)
{
    drop_marks(ix, e);
    e->loose = e->gap = e->paused = false;
    e->last_seq = 0;
    e->end = (struct mark){.place = {.token = e->token, .seq = 1}};
    add_mark(ix, e, &e->end);
}

static struct entry *entry_of(struct log_index *ix, uint64_t exec_id, uint64_t token)
{
    struct entry *e = NULL;
    for (size_t i = 0; i < ix->count && e == NULL; i++) {
        if (ix->entries[i].exec_id == exec_id && ix->entries[i].token == token)
            e = &ix->entries[i];
    }
    bool is_new = e == NULL;
    if (is_new)
        e = ix->count < LOG_TOKENS_MAX ? &ix->entries[ix->count++] : least_used(ix, NULL);
    e->used = ++ix->uses;
    if (is_new) {
        e->exec_id = exec_id;
        e->token = token;
    }
    if (is_new || (e->loose && !e->paused))
        begin_anew(ix, e);
    return e;
}

/* ---- reading */

/* Lines of one token, from a place on. */
struct walk {
    struct log_index *ix;
    uint64_t exec_id;
    size_t page_bytes;
    struct line_cutter cutter;
    struct log_place read; /* up to here */
    uint64_t first_seq;    /* of the first chunk that was read; 0: there is none */
    struct log_chunk *chunks;
    size_t count;
    size_t next;
};

static void walk_begin(struct walk *w, struct log_index *ix, uint64_t exec_id,
                       const struct line_place *place, size_t page_bytes)
{
    *w = (struct walk){.ix = ix,
                       .exec_id = exec_id,
                       .page_bytes = page_bytes,
                       .read = {place->token, place->seq - 1}};
    line_cutter_init(&w->cutter, place);
}

static void walk_end(struct walk *w)
{
    line_cutter_free(&w->cutter);
}

/* The next chunk goes to the cutter. *ret_fed: there is one. */
static enum rc feed(struct walk *w, bool *ret_fed, struct err *err)
{
    *ret_fed = false;
    if (w->next == w->count) {
        arena_reset(&w->ix->arena);
        w->next = 0;
        TRY(w->ix->logs->ops->read(w->ix->logs, w->exec_id, w->read, w->page_bytes, &w->ix->arena,
                                   &w->chunks, &w->count, err));
    }
    if (w->next == w->count || w->chunks[w->next].token != w->read.token)
        return RC_OK;
    const struct log_chunk *chunk = &w->chunks[w->next++];
    uint64_t cost = chunk->bytes.len + CHUNK_COST;
    w->ix->left -= cost < w->ix->left ? cost : w->ix->left;
    if (w->first_seq == 0)
        w->first_seq = chunk->seq;
    w->read.seq = chunk->seq;
    line_cutter_feed(&w->cutter, chunk);
    *ret_fed = true;
    return RC_OK;
}

/* *ret_found: there is one more line that is complete. */
static enum rc next_line(struct walk *w, struct log_line *ret_line, bool *ret_found,
                         struct err *err)
{
    bool fed = true;
    *ret_found = line_cutter_next(&w->cutter, ret_line);
    while (!*ret_found && fed) {
        TRY(feed(w, &fed, err));
        *ret_found = fed && line_cutter_next(&w->cutter, ret_line);
    }
    return RC_OK;
}

/* The chunk in which the place lies is gone: what was counted before it cannot be read again. */
static bool is_stale(const struct walk *w, const struct line_place *place)
{
    return place->skip > 0 && w->first_seq != place->seq;
}

static void count_line(struct line_counts *counts, const struct log_line *line)
{
    counts->of[0]++;
    counts->of[line->stream]++;
}

/* In the middle of counting: what is known so far is kept, whatever is missing in it. */
static enum rc pause_here(struct log_index *ix, struct entry *e, bool has_gap, struct err *err)
{
    e->gap = e->gap || has_gap;
    e->paused = ix->paused = true;
    return err_set(err, RC_BUSY, "there is more to count");
}

/* Reads on from the end of what is known. *ret_open: the stream of what no break has ended; 0:
 * there is nothing. */
static enum rc extend(struct log_index *ix, struct entry *e, bool settled, unsigned *ret_open,
                      struct err *err)
{
    CLEANUP(walk_end) struct walk w;
    struct line_place from = e->end.place;
    const struct mark *last = &e->marks[e->count - 1];
    uint64_t lines_marked = last->counts.of[0];
    size_t bytes = 0;
    bool found = true;
    e->loose = true; /* until all was read: a failure leaves it to be done anew */
    e->paused = false;
    walk_begin(&w, ix, e->exec_id, &from, LONG_PAGE_BYTES);
    while (found) {
        struct log_line line;
        TRY(next_line(&w, &line, &found, err));
        if (!found)
            break;
        count_line(&e->end.counts, &line);
        e->end.place = w.cutter.at;
        bytes += line.text.len + 1;
        if (ix->left == 0)
            return pause_here(ix, e, w.cutter.has_gap, err);
        if (bytes < MARK_BYTES && e->end.counts.of[0] - lines_marked < MARK_LINES)
            continue;
        add_mark(ix, e, &e->end);
        lines_marked = e->end.counts.of[0];
        bytes = 0;
    }
    e->gap = e->gap || w.cutter.has_gap;
    e->loose = (e->gap && !settled) || is_stale(&w, &from);
    e->paused = false;
    if (w.read.seq > e->last_seq)
        e->last_seq = w.read.seq;
    *ret_open = w.cutter.open.len > 0 ? (unsigned)w.cutter.stream : 0;
    return RC_OK;
}

enum rc log_index_tokens(struct log_index *ix, uint64_t exec_id, struct arena *arena,
                         struct token_lines **ret_tokens, size_t *ret_count, struct err *err)
{
    VEC(struct token_lines) found = {0};
    struct log_place after = {0};
    for (;;) {
        struct log_chunk *chunks;
        size_t count;
        arena_reset(&ix->arena);
        TRY(ix->logs->ops->read(ix->logs, exec_id, after, 1, &ix->arena, &chunks, &count, err));
        if (count == 0)
            break;
        *VEC_PUSH(arena, &found) = (struct token_lines){
            .token = chunks[0].token, .attempt = chunks[0].attempt, .first_seq = chunks[0].seq};
        after = (struct log_place){chunks[0].token, INT64_MAX};
    }
    *ret_tokens = found.items;
    *ret_count = found.len;
    return RC_OK;
}

enum rc log_index_look(struct log_index *ix, uint64_t exec_id, struct token_lines *token,
                       struct err *err)
{
    struct entry *e = entry_of(ix, exec_id, token->token);
    bool had = e->end.place.count > 0 && !e->paused;
    unsigned open;
    if (e->first_seq != token->first_seq) /* the oldest were deleted: all lines have new numbers */
        begin_anew(ix, e);
    e->first_seq = token->first_seq;
    TRY(extend(ix, e, token->settled, &open, err));
    if (had && e->loose) { /* its beginning was deleted meanwhile */
        begin_anew(ix, e);
        TRY(extend(ix, e, token->settled, &open, err));
    }
    token->known = true;
    token->counts = e->end.counts;
    token->end = e->end.place;
    token->last_seq = e->last_seq;
    if (open != 0 && token->over) {
        token->counts.of[0]++;
        token->counts.of[open]++;
    }
    return RC_OK;
}

/* The last mark with no more lines of that stream before it. */
static const struct mark *mark_before(const struct entry *e, unsigned stream, uint64_t skip)
{
    size_t low = 0;
    size_t high = e->count;
    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;
        if (e->marks[mid].counts.of[stream] <= skip)
            low = mid;
        else
            high = mid;
    }
    return &e->marks[low];
}

enum rc log_index_read(struct log_index *ix, uint64_t exec_id, const struct token_lines *token,
                       unsigned stream, uint64_t skip, line_sink *sink, void *arg, struct err *err)
{
    CLEANUP(walk_end) struct walk w;
    struct entry *e = entry_of(ix, exec_id, token->token); /* with its beginning at least */
    const struct mark mark = *mark_before(e, stream, skip);
    struct line_counts counts = mark.counts;
    bool found = true;
    walk_begin(&w, ix, exec_id, &mark.place, PAGE_BYTES);
    while (found) {
        struct log_line line;
        struct line_place before = w.cutter.at;
        TRY(next_line(&w, &line, &found, err));
        if (!found && token->over)
            found = line_cutter_end(&w.cutter, &line);
        if (!found || is_stale(&w, &mark.place))
            break;
        bool passed = counts.of[stream] >= skip;
        count_line(&counts, &line);
        if (passed && !sink(arg, &line, &before))
            break;
    }
    return RC_OK;
}

/* store_list.c - lists that no store has a statement for: a filter by a field in the document. */
#include "base/vec.h"
#include "job/spec_scan.h"
#include "store/store.h"

enum {
    CHUNK_ROWS = 256,           /* are read at a time … */
    CHUNKS_BYTES_MAX = 1 << 24, /* … until those that were read take so much memory */
};

#define COLUMN_OF(name_) {.field = JOB_FIELD_##name_, .offset = offsetof(struct filter, name_)},
#define COLUMN_ROW(name, kind, bounds, printed, kept, filter, ...)                                 \
    FILTER_IN_##filter(FILTER_KEPT_##kept(COLUMN_OF(name)))
const struct filter_column filter_columns[FILTER_COLUMNS] = {JOB_FIELDS(COLUMN_ROW)};

struct str filter_column_text(const struct filter *filter, size_t column)
{
    return *(const struct str *)((const char *)filter + filter_columns[column].offset);
}

void filter_column_set(struct filter *filter, size_t column, struct str text)
{
    *(struct str *)((char *)filter + filter_columns[column].offset) = text;
}

bool filter_column_is_indexed(size_t column)
{
    return job_fields[filter_columns[column].field].kept == JOB_KEPT_INDEXED;
}

static bool fits_document(const struct filter *filter, struct str spec)
{
    for (size_t i = 0; i < filter->document_count; i++) {
        struct str value = spec_scan(spec, filter->document[i].key);
        if (!str_eq(value.len > 0 ? value : STR("null"), filter->document[i].value))
            return false;
    }
    return true;
}

/* The jobs that a page shows. */
struct shown {
    VEC(struct job_rec) jobs;
    size_t limit;
};

/* Adds those that fit; false when there is one that the page has no room for. */
static bool show_fitting(struct shown *shown, const struct filter *filter,
                         const struct job_page *chunk, struct arena *arena)
{
    for (size_t i = 0; i < chunk->count; i++) {
        if (!fits_document(filter, chunk->jobs[i].spec))
            continue;
        if (shown->jobs.len == shown->limit)
            return false;
        *VEC_PUSH(arena, &shown->jobs) = chunk->jobs[i];
    }
    return true;
}

enum rc store_list_jobs(struct reader *reader, const struct filter *filter, const struct page *page,
                        struct arena *arena, struct job_page *ret_page, struct err *err)
{
    if (filter->document_count == 0)
        return reader->ops->jobs(reader, filter, page, arena, ret_page, err);
    struct shown shown = {.limit = page->limit};
    struct page next = {.before = page->before, .limit = CHUNK_ROWS};
    size_t bytes_max = arena->used_bytes + CHUNKS_BYTES_MAX;
    size_t rows = 0;
    do {
        struct job_page chunk;
        TRY(reader->ops->jobs(reader, filter, &next, arena, &chunk, err));
        bool room = show_fitting(&shown, filter, &chunk, arena);
        next.before = room ? chunk.next : shown.jobs.items[shown.limit - 1].id;
        if (!room || chunk.count < CHUNK_ROWS) /* a chunk that is not full looked at enough rows */
            break;
        rows += chunk.count;
    } while (next.before != 0 && rows < LIST_SCAN_MAX && arena->used_bytes < bytes_max);
    *ret_page = (struct job_page){shown.jobs.items, shown.jobs.len, next.before};
    return RC_OK;
}

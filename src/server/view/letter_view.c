#include "server/view/letter_view.h"

/* ---- a page */

struct gather {
    struct arena *arena;
    struct letter_page *page;
    size_t limit;
};

static bool take_letter(void *arg, const struct letter_rec *letter)
{
    struct gather *g = arg;
    if (g->page->count == g->limit)
        return false;
    struct letter_rec *copy = &g->page->letters[g->page->count++];
    *copy = *letter;
    copy->queue = arena_str(g->arena, letter->queue);
    copy->name = arena_str(g->arena, letter->name);
    copy->owner = arena_str(g->arena, letter->owner);
    copy->line = arena_str(g->arena, letter->line);
    copy->error = arena_str(g->arena, letter->error);
    return true;
}

enum rc letter_page_read(struct reader *reader, const struct letter_filter *filter,
                         struct letter_place before, size_t limit, struct arena *arena,
                         struct letter_page *ret_page, struct err *err)
{
    struct gather g = {arena, ret_page, limit};
    *ret_page = (struct letter_page){.letters = ARENA_ARRAY(arena, struct letter_rec, limit)};
    return reader->ops->letters(reader, filter, before, LIST_SCAN_MAX, take_letter, &g,
                                &ret_page->next, err);
}

/* ---- a number */

static bool count_letter(void *arg, const struct letter_rec *letter)
{
    uint64_t *count = arg;
    (void)letter;
    ++*count;
    return true;
}

enum rc letter_count(struct reader *reader, const struct letter_filter *filter, uint64_t *ret_count,
                     struct err *err)
{
    struct letter_place at = {0};
    *ret_count = 0;
    do {
        TRY(reader->ops->letters(reader, filter, at, LIST_SCAN_MAX, count_letter, ret_count, &at,
                                 err));
    } while (at.exec_id != 0);
    return RC_OK;
}

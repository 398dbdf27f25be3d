#include "server/letter_view.h"
#include "base/map.h"
#include "base/vec.h"

#include <stdlib.h>

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

struct counting {
    const struct membership *of; /* NULL: all */
    uint64_t count;
};

static bool count_letter(void *arg, const struct letter_rec *letter)
{
    struct counting *c = arg;
    c->count += c->of == NULL || membership_owns(c->of, letter->place.exec_id);
    return true;
}

enum rc letter_count(struct reader *reader, const struct letter_filter *filter,
                     const struct membership *of, uint64_t *ret_count, struct err *err)
{
    struct letter_place at = {0};
    struct counting counting = {.of = of};
    do {
        TRY(reader->ops->letters(reader, filter, at, LIST_SCAN_MAX, count_letter, &counting, &at,
                                 err));
    } while (at.exec_id != 0);
    *ret_count = counting.count;
    return RC_OK;
}

/* ---- groups */

struct grouping {
    struct arena *arena;
    struct map by_print; /* fingerprint -> struct letter_group */
};

static void grouping_free(struct grouping *g)
{
    map_free(&g->by_print);
}

/* They come newest first. */
static bool group_letter(void *arg, const struct letter_rec *letter)
{
    struct grouping *g = arg;
    struct letter_group *group = map_get(&g->by_print, letter->fingerprint);
    if (group == NULL) {
        group = ARENA_NEW(g->arena, struct letter_group);
        *group = (struct letter_group){
            .fingerprint = letter->fingerprint,
            .class = letter->class,
            .line = arena_str(g->arena, letter->line),
            .newest = letter->place,
        };
        map_put(&g->by_print, letter->fingerprint, group);
    }
    group->count++;
    group->oldest_ms = letter->place.died_ms;
    return true;
}

static int largest_first(const void *a, const void *b)
{
    const struct letter_group *left = a;
    const struct letter_group *right = b;
    if (left->count != right->count)
        return left->count > right->count ? -1 : 1;
    return letter_order(right->newest, left->newest);
}

enum rc letter_groups_read(struct reader *reader, const struct letter_filter *filter,
                           struct arena *arena, struct letter_groups *ret_groups, struct err *err)
{
    CLEANUP(grouping_free) struct grouping g = {.arena = arena};
    struct letter_place at = {0};
    size_t scanned = 0;
    do {
        TRY(reader->ops->letters(reader, filter, at, LIST_SCAN_MAX, group_letter, &g, &at, err));
        scanned += LIST_SCAN_MAX;
    } while (at.exec_id != 0 && scanned < LETTER_GROUP_SCAN_MAX);
    *ret_groups = (struct letter_groups){
        .groups = ARENA_ARRAY(arena, struct letter_group, g.by_print.len),
        .complete = at.exec_id == 0,
    };
    MAP_EACH(&g.by_print, slot)
    ret_groups->groups[ret_groups->count++] = *(const struct letter_group *)slot->value;
    qsort(ret_groups->groups, ret_groups->count, sizeof *ret_groups->groups, largest_first);
    return RC_OK;
}

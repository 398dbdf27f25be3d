/* letters.c - reading dead letters: one, pages, groups. */
#include "base/id.h"
#include "base/vec.h"
#include "store/mem/mem.h"
#include "store/mem/rows.h"

#include <stdlib.h>

enum rc mem_read_letter(struct reader *reader, uint64_t exec_id, struct arena *arena,
                        struct letter_rec *ret_letter, struct err *err)
{
    struct mem_store *m = mem_reader_store(reader);
    pthread_mutex_lock(&m->lock);
    const struct letter_rec *letter = map_get(&m->letters, exec_id);
    if (letter != NULL)
        *ret_letter = copy_letter(arena, *letter);
    pthread_mutex_unlock(&m->lock);
    return letter != NULL ? RC_OK
                          : err_set(err, RC_NOT_FOUND, "there is no dead letter %s",
                                    ID_TEXT(ID_EXEC, exec_id));
}

enum rc mem_read_letters(struct reader *reader, const struct letter_filter *filter,
                         struct letter_place before, size_t scan_max, letter_sink *sink, void *arg,
                         struct letter_place *ret_next, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct mem_store *m = mem_reader_store(reader);
    struct letter_place last = {0};
    size_t count;
    size_t looked = 0;
    (void)err;
    pthread_mutex_lock(&m->lock);
    const struct letter_rec **all = mem_letters(m, &arena, &count);
    *ret_next = (struct letter_place){0};
    for (size_t i = count; i-- > 0;) {
        if (before.exec_id != 0 && letter_order(all[i]->place, before) >= 0)
            continue;
        if (looked++ == scan_max || (letter_fits(filter, all[i]) && !sink(arg, all[i]))) {
            *ret_next = last;
            break;
        }
        last = all[i]->place;
    }
    pthread_mutex_unlock(&m->lock);
    return RC_OK;
}

/* ---- groups */

typedef VEC(struct letter_group) group_list;

/* They come newest first. */
static void group_letter(group_list *groups, const struct letter_rec *letter, struct arena *arena)
{
    struct letter_group *group = NULL;
    for (size_t i = 0; i < groups->len && group == NULL; i++) {
        if (groups->items[i].fingerprint == letter->fingerprint)
            group = &groups->items[i];
    }
    if (group == NULL) {
        group = VEC_PUSH(arena, groups);
        *group = (struct letter_group){
            .fingerprint = letter->fingerprint,
            .class = letter->class,
            .line = arena_str(arena, letter->line),
            .newest = letter->place,
        };
    }
    group->count++;
    group->oldest_ms = letter->place.died_ms;
}

static int largest_first(const void *a, const void *b)
{
    const struct letter_group *left = a;
    const struct letter_group *right = b;
    if (left->count != right->count)
        return left->count > right->count ? -1 : 1;
    return letter_order(right->newest, left->newest);
}

static bool died_within(const struct letter_filter *filter, int64_t died_ms)
{
    return died_ms >= filter->died_after_ms && died_ms < letter_filter_end(filter).died_ms;
}

enum rc mem_group_letters(struct reader *reader, const struct letter_filter *filter,
                          size_t scan_max, size_t max, struct arena *arena,
                          struct letter_groups *ret_groups, struct err *err)
{
    struct mem_store *m = mem_reader_store(reader);
    group_list groups = {0};
    size_t count;
    size_t looked = 0;
    (void)err;
    pthread_mutex_lock(&m->lock);
    const struct letter_rec **all = mem_letters(m, arena, &count);
    for (size_t i = count; i-- > 0 && looked <= scan_max;) {
        if (!died_within(filter, all[i]->place.died_ms))
            continue;
        if (looked++ < scan_max && letter_fits(filter, all[i]))
            group_letter(&groups, all[i], arena);
    }
    pthread_mutex_unlock(&m->lock);
    if (groups.len > 0)
        qsort(groups.items, groups.len, sizeof *groups.items, largest_first);
    *ret_groups = (struct letter_groups){
        .groups = groups.items,
        .count = groups.len < max ? groups.len : max,
        .complete = looked <= scan_max,
    };
    return RC_OK;
}

/* standby.c - a second memory that does what the first does, until it lags; and then takes its
 * place.
 *
 * As a standby does that replays the log of its primary: it is told of every commit and of
 * everything that members write, in the same order. Once it lags it hears nothing more. When it
 * takes over, all that came since then is lost, and no handle is told: each finds out by its own
 * marks. */
#include "base/mem.h"
#include "store/mem/mem.h"
#include "store/mem/rows.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void store_mem_stand_by(struct store *store)
{
    struct mem_store *m = mem_of(store);
    assert(m->standby == NULL && m->jobs.len == 0 && m->node_count == 0);
    m->standby = mem_tables_new(m->partition_count);
    m->standby->clock = m->clock;
    m->standby->clock_arg = m->clock_arg;
}

void store_mem_lag(struct store *store)
{
    mem_of(store)->lags = true;
}

struct mem_store *mem_standby(const struct mem_store *m)
{
    return m->lags ? NULL : m->standby;
}

static char *copy_text(const char *text)
{
    return text == NULL ? NULL : mem_dup(text, strlen(text));
}

static void copy_partitions(struct mem_store *to, const struct mem_store *from)
{
    for (uint32_t i = 0; i < from->partition_count; i++) {
        free(to->partitions[i].owner);
        free(to->partitions[i].former);
        to->partitions[i] = from->partitions[i];
        to->partitions[i].owner = copy_text(from->partitions[i].owner);
        to->partitions[i].former = copy_text(from->partitions[i].former);
    }
}

static void copy_marks(struct mem_store *to, const struct mem_store *from)
{
    to->kept_count = to->lost_count = 0;
    for (size_t i = 0; i < from->kept_count; i++)
        mem_mark_kept(to, from->kept[i].writer, from->kept[i].turn);
    for (size_t i = 0; i < from->lost_count; i++) {
        to->lost = kept_rows_grow(to->lost, to->lost_count, sizeof *to->lost);
        to->lost[to->lost_count++] = from->lost[i];
    }
}

void mem_follow_members(struct mem_store *m)
{
    struct mem_store *to = mem_standby(m);
    if (to == NULL)
        return;
    mem_copy_nodes(to, m);
    copy_partitions(to, m);
    copy_marks(to, m);
    to->settings_version = m->settings_version;
}

/* From the first table to the end: the members before it belong to this process. */
static void swap_tables(struct mem_store *a, struct mem_store *b)
{
    enum { FROM = offsetof(struct mem_store, partition_count) };
    size_t bytes = sizeof *a - FROM;
    char *other = mem_dup((char *)b + FROM, bytes);
    memcpy((char *)b + FROM, (char *)a + FROM, bytes);
    memcpy((char *)a + FROM, other, bytes);
    free(other);
}

void store_mem_fail_over(struct store *store)
{
    struct mem_store *m = mem_of(store);
    struct mem_store *standby = m->standby;
    assert(standby != NULL);
    for (size_t i = 0; i < m->handle_count; i++)
        store_mem_sever(&m->handles[i]->store); /* its connection was to the other one */
    swap_tables(m, standby);
    m->mail_numbers = standby->mail_numbers; /* sequences are written down ahead */
    m->writers = standby->writers;
    m->standby = NULL;
    m->lags = false;
    mem_tables_free(standby);
}

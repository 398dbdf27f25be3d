/* marks.c - which turns were kept, and which were called lost, as each writer left them.
 *
 * A writer is one life of a handle. Its newest kept turn is a mark that its next commit demands:
 * where it is missing, store and memory have not the same past. A turn that was called lost is
 * marked as well, since the words of its commit may still be on their way; that mark stays for as
 * long as the epoch under which it was sent. */
#include "base/mem.h"
#include "base/plant.h"
#include "store/mem/mem.h"
#include "store/mem/rows.h"

#include <inttypes.h>

enum { FORGET_EVERY = 8 }; /* commits; of a planted bug */

static struct mem_kept *find(const struct mem_store *m, uint64_t writer)
{
    for (size_t i = 0; i < m->kept_count; i++) {
        if (m->kept[i].writer == writer)
            return &m->kept[i];
    }
    return NULL;
}

uint64_t mem_newest_kept(const struct mem_store *m, uint64_t writer)
{
    const struct mem_kept *kept = find(m, writer);
    return kept == NULL ? 0 : kept->turn;
}

void mem_mark_kept(struct mem_store *m, uint64_t writer, uint64_t turn)
{
    struct mem_kept *kept = find(m, writer);
    if (kept == NULL) {
        m->kept = kept_rows_grow(m->kept, m->kept_count, sizeof *m->kept);
        kept = &m->kept[m->kept_count++];
        kept->writer = writer;
    }
    kept->turn = turn;
}

void mem_new_writer(struct mem_handle *h)
{
    h->writer = ++h->m->writers;
    h->mark = h->first_mark = 0;
    h->sent = (struct mem_sent){0};
}

void mem_set_mark(struct mem_handle *h, uint64_t turn)
{
    if (turn == 0 || h->mark == 0)
        h->first_mark = turn;
    h->mark = turn;
}

enum rc mem_check_mark(const struct mem_handle *h, struct err *err)
{
    if (h->mark == 0 || mem_newest_kept(h->m, h->writer) >= h->mark || PLANTED(chain_unchecked))
        return RC_OK;
    return err_set(err, RC_DEPOSED, "turn %" PRIu64 ", which was kept, is missing", h->mark);
}

uint64_t mem_lost_turns(const struct mem_handle *h)
{
    uint64_t newest = mem_newest_kept(h->m, h->writer);
    if (h->mark == 0 || newest >= h->mark)
        return 0;
    return newest >= h->first_mark ? h->mark - newest : h->mark - h->first_mark + 1;
}

uint64_t store_mem_lost(struct store *store)
{
    return mem_lost_turns(handle_of(store));
}

/* ---- commits that are on their way */

static uint32_t lowest(const struct ownership *own)
{
    return (uint32_t)__builtin_ctzll(ownership_set(own).bits);
}

struct mem_sent store_mem_send(struct store *store, const struct ownership *own, uint64_t turn)
{
    struct mem_handle *h = handle_of(store);
    h->sent = (struct mem_sent){h->writer, turn, ++h->tries, *own};
    return h->sent;
}

static bool is_called_lost(const struct mem_store *m, const struct mem_sent *sent)
{
    for (size_t i = 0; i < m->lost_count; i++) {
        if (m->lost[i].writer == sent->writer && m->lost[i].turn == sent->turn &&
            m->lost[i].try == sent->try)
            return true;
    }
    return false;
}

enum rc store_mem_arrives(struct store *store, const struct mem_sent *sent, struct err *err)
{
    const struct mem_store *m = mem_of(store);
    TRY(mem_check_epochs(m, &sent->own, err));
    if (is_called_lost(m, sent))
        return err_set(err, RC_CONFLICT, "turn %" PRIu64 " was called lost", sent->turn);
    return RC_OK;
}

void mem_mark_lost(struct mem_handle *h, uint64_t turn)
{
    struct mem_store *m = h->m;
    if (h->sent.turn != turn || h->sent.writer != h->writer || is_called_lost(m, &h->sent))
        return;
    uint32_t partition = lowest(&h->sent.own);
    m->lost = kept_rows_grow(m->lost, m->lost_count, sizeof *m->lost);
    m->lost[m->lost_count++] = (struct mem_lost){.writer = h->writer,
                                                 .turn = turn,
                                                 .try = h->sent.try,
                                                 .partition = partition,
                                                 .epoch = h->sent.own.epochs[partition]};
}

void mem_forget_lost(struct mem_store *m)
{
    size_t count = 0;
    for (size_t i = 0; i < m->lost_count; i++) {
        if (m->partitions[m->lost[i].partition].epoch == m->lost[i].epoch)
            m->lost[count++] = m->lost[i];
    }
    m->lost_count = count;
}

void mem_forget_marks(struct mem_handle *h)
{
    if (PLANTED(lost_marks_forgotten) && ++h->tries % FORGET_EVERY == 0)
        h->m->lost_count = 0;
}

#include "store/postgres/marks.h"

#include <string.h>

void marks_init(struct marks *m)
{
    *m = (struct marks){0};
    pthread_mutex_init(&m->lock, NULL);
}

void marks_free(struct marks *m)
{
    pthread_mutex_destroy(&m->lock);
}

static void begin_chain(struct marks *m)
{
    m->chain++;
    m->run_count = 0;
}

static void add(struct marks *m, uint64_t turn)
{
    struct mark_run *newest = m->run_count == 0 ? NULL : &m->runs[m->run_count - 1];
    if (newest != NULL && turn == newest->last + 1) {
        newest->last = turn;
        return;
    }
    if (m->run_count == MARKS_RUNS_MAX)
        memmove(&m->runs[0], &m->runs[1], --m->run_count * sizeof m->runs[0]);
    m->runs[m->run_count++] = (struct mark_run){turn, turn};
}

static uint64_t newest_of(const struct marks *m)
{
    return m->run_count == 0 ? 0 : m->runs[m->run_count - 1].last;
}

struct mark_asked marks_ask(struct marks *m)
{
    pthread_mutex_lock(&m->lock);
    struct mark_asked asked = {newest_of(m), m->chain};
    pthread_mutex_unlock(&m->lock);
    return asked;
}

void marks_keep(struct marks *m, const struct mark_asked *asked, uint64_t turn)
{
    pthread_mutex_lock(&m->lock);
    if (m->chained && m->chain == asked->chain && turn > newest_of(m))
        add(m, turn);
    pthread_mutex_unlock(&m->lock);
}

void marks_set_chained(struct marks *m, bool chained)
{
    pthread_mutex_lock(&m->lock);
    m->chained = chained;
    if (!chained)
        begin_chain(m);
    pthread_mutex_unlock(&m->lock);
}

void marks_restart(struct marks *m, uint64_t newest)
{
    pthread_mutex_lock(&m->lock);
    begin_chain(m);
    if (newest != 0)
        add(m, newest);
    pthread_mutex_unlock(&m->lock);
}

/* Of one run, those behind newest up to the one that was asked for. */
static uint64_t missing_of(const struct mark_run *run, uint64_t newest, uint64_t asked)
{
    uint64_t after = newest >= run->first ? newest : run->first - 1;
    uint64_t last = asked < run->last ? asked : run->last;
    return last > after ? last - after : 0;
}

uint64_t marks_lost(struct marks *m, const struct mark_asked *asked, uint64_t newest)
{
    uint64_t lost = 0;
    if (asked->turn == 0 || newest >= asked->turn)
        return 0;
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; m->chain == asked->chain && i < m->run_count; i++)
        lost += missing_of(&m->runs[i], newest, asked->turn);
    pthread_mutex_unlock(&m->lock);
    return lost;
}

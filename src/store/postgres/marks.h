/* marks.h - which of our turns the database has kept, as far as memory knows.
 *
 * Our marks in table turn are a chain: each commit asks for the newest one before it, and so do the
 * member's renewals. Where it is missing the database has gone back to an earlier state than
 * memory's. The turn's thread adds to the chain, the member's thread looks at it and begins another
 * one; so a turn says since when it was under way, and what was committed under a chain that is
 * over adds nothing to the next. */
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MARKS_RUNS_MAX = 16 };

/* Turns without a gap between them. Where partitions are taken over numbers jump to those of
 * others. */
struct mark_run {
    uint64_t first;
    uint64_t last;
};

struct marks {
    pthread_mutex_t lock;                 /* of what follows */
    bool chained;                         /* no server is there that would delete the newest */
    uint64_t chain;                       /* counts chains */
    struct mark_run runs[MARKS_RUNS_MAX]; /* of this one, oldest first; older ones were forgotten */
    size_t run_count;
};

/* The mark that was to be asked for at some moment. */
struct mark_asked {
    uint64_t turn; /* the newest that is known as kept; 0: none to ask for */
    uint64_t chain;
};

void marks_init(struct marks *m);
void marks_free(struct marks *m);

struct mark_asked marks_ask(struct marks *m);
/* This turn was kept, and had asked so. Nothing when the chain has ended since. */
void marks_keep(struct marks *m, const struct mark_asked *asked, uint64_t turn);
/* False: a server may be there that deletes our newest mark. The chain ends, and the next begins
 * when it is gone. */
void marks_set_chained(struct marks *m, bool chained);
/* The database has gone back, and this is the newest turn that it has (0: none): another chain
 * begins there. */
void marks_restart(struct marks *m, uint64_t newest);
/* How many turns are missing when the newest that is there is not the one that was asked for, or a
 * later one. */
uint64_t marks_lost(struct marks *m, const struct mark_asked *asked, uint64_t newest);

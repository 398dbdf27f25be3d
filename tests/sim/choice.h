/* choice.h - what a client picks: a word, or something that is there.
 *
 * Mostly that is one of the newest, which have more to lose. Each of some_* falls back to any job or
 * execution when there is none of its kind, and now and then to one that never was. */
#pragma once
#include "base/str.h"

#include <stdint.h>

struct world;

#define PICK(w, array) ((array)[pick((w), COUNT_OF(array))])

/* Few, so that they meet. */
extern const struct str queue_words[2];
extern const struct str passing_words[6]; /* queues that come and go */
extern const struct str team_words[3];    /* the first is none */
extern const struct str name_words[3];
extern const struct str calendar_words[2];

/* A queue for a job. */
struct str some_queue(struct world *w);

/* ---- jobs */

uint64_t some_job(struct world *w);
uint64_t some_recurring(struct world *w);
uint64_t some_paused(struct world *w);
/* One that was edited, and is not over if there is such a one. */
uint64_t some_edited(struct world *w);
/* One whose slot a calendar holds: its time has passed, and it is still ahead. */
uint64_t some_held(struct world *w);

/* One that runs once and waits for several jobs; 0: there is none. */
uint64_t some_blocked(struct world *w);

/* ---- executions */

uint64_t some_exec(struct world *w);
/* The one that was granted last, perhaps so lately that its worker does not know. */
uint64_t some_running(struct world *w);
/* Of a job that recurred until somebody cancelled it. */
uint64_t some_cancelled(struct world *w);
/* A dead one. */
uint64_t some_letter(struct world *w);

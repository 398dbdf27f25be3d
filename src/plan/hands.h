/* hands.h - the workers of a plan: they poll, take what they are given, and report success when a
 * run has taken as long as it usually does.
 *
 * Each polls again as soon as it was answered, and is parked by the engine meanwhile. A poll names
 * everything that its worker holds, so that large workers are split: nothing that a plan looks at
 * depends on which worker runs what. */
#pragma once
#include "base/heap.h"
#include "plan/world.h"
#include "server/turn/turn.h"

enum { HAND_SLOTS_MAX = 64 };

struct hands;

/* How long this run takes. */
typedef int64_t run_length(void *arg, uint64_t job_id, uint64_t exec_id);

/* slots: 0: those of the world's workers; else so many that run anything. extra: handlers that only
 * the changed file has, newline-separated. Runs of the world that are under way go on. */
struct hands *hands_new(const struct world *world, uint64_t slots, struct str extra,
                        run_length *length, void *arg);
void hands_free(struct hands *h);

/* The workers as the engine is to know them, and for each run of the world who has it. */
struct hands_view {
    const struct worker_rec *workers;
    size_t worker_count;
    const uint64_t *holders;
    uint64_t slots;
};
struct hands_view hands_view(const struct hands *h);

/* When the next run ends; INT64_MAX: none does. */
int64_t hands_next_ms(const struct hands *h);
/* Some want to poll although nothing ends. */
bool hands_want_turn(const struct hands *h);
/* The polls to send in the turn of this moment; valid until the next call. */
struct command *const *hands_polls(struct hands *h, int64_t now_ms, size_t *ret_count);
/* Takes the answers to polls that are among these. */
void hands_take(struct hands *h, const struct list *done, int64_t now_ms);

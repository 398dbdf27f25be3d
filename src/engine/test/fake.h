/* fake.h - workers that do as a test says. */
#pragma once
#include "engine/test/world.h"

struct fake {
    uint64_t id;
    uint64_t seq;
    uint64_t heard;              /* what it says about that */
    struct poll_held held[1024]; /* what it says it runs */
    size_t held_count;
};

struct skills {
    char unused;
    uint32_t slots;
    const char *queues;   /* comma-separated; NULL: all */
    const char *handlers; /* comma-separated */
    bool no_commands;
    const char *boot_id;
    uint64_t replaces;
};

struct asked *ask_register(struct world *w, const struct skills *skills);

/* Takes a turn. */
struct fake hire_one(struct world *w, struct skills skills);

#define HIRE(world, ...) hire_one((world), (struct skills){.unused = 0, __VA_ARGS__})

/* The next poll of the fake: lists what it holds. */
struct asked *ask_poll(struct world *w, struct fake *f, uint32_t free);
void fake_drop(struct fake *f, uint64_t exec_id);

/* Adds a result to a poll, whose fake no longer holds the lease. */
struct poll_result *add_result(struct asked *asked, const struct poll_lease *lease,
                               enum outcome outcome);
struct asked *ask_report(struct world *w, struct fake *f, const struct poll_lease *lease,
                         enum outcome outcome);

/* The fake starts what the reply gives it. */
void fake_take(struct fake *f, const struct asked *asked);

/* Polls for one lease, which must come at once, and starts it. Takes a turn. */
struct poll_lease fake_lease(struct world *w, struct fake *f);

/* The same, and says once that it runs. Takes two turns; the last poll stays parked. */
struct poll_lease fake_start(struct world *w, struct fake *f);
bool was_accepted(const struct asked *asked);

/* silence_fixture_test.h - workers that hold leases and fall silent; included by tests only. */
#pragma once
#include "engine/ready/silence.h"
#include "engine/test/fake.h"
#include "engine/test/jobs.h"

/* Server and worker die together; the next server waits for the worker in vain. */
static inline void crash(struct world *w)
{
    world_restart(w);
    world_turn(w);
    world_pass(w, w->options.lease_ms);
}

/* A worker with room for so many takes what it can get, and names it. */
static inline struct fake hire_and_start(struct world *w, uint32_t slots)
{
    struct fake f = HIRE(w, .slots = slots);
    struct asked *poll = ask_poll(w, &f, slots);
    poll->cmd.poll.wait_ms = 0;
    world_turn(w);
    fake_take(&f, poll);
    ask_poll(w, &f, 0);
    world_turn(w);
    return f;
}

/* Polls, with room for so many more, every few seconds. */
static inline void live_for(struct world *w, struct fake *f, uint32_t slots, int64_t ms)
{
    for (int64_t left_ms = ms; left_ms > 0; left_ms -= 5000) {
        w->now_ms += left_ms < 5000 ? left_ms : 5000;
        struct asked *poll = ask_poll(w, f, slots - (uint32_t)f->held_count);
        poll->cmd.poll.wait_ms = 0;
        world_turn(w);
        fake_take(f, poll);
    }
    ask_poll(w, f, slots - (uint32_t)f->held_count);
    world_turn(w);
}

static inline bool holds(const struct fake *f, uint64_t exec_id)
{
    for (size_t i = 0; i < f->held_count; i++) {
        if (f->held[i].exec_id == exec_id)
            return true;
    }
    return false;
}

static const struct exec_values *values_of(const struct world *w, uint64_t exec_id)
{
    assert_non_null(exec_of(w, exec_id));
    return &exec_of(w, exec_id)->v;
}

/* rng.h - a deterministic random number generator.
 *
 * One seed decides everything that follows, on every machine. For jitter, simulation and spreading
 * load; never for keys or anything that must not be guessed. */
#pragma once

#include <stdint.h>

struct rng {
    uint64_t state;
};

/* splitmix64: one addition and three mixes; every seed is a good one. */
static inline uint64_t rng_next(struct rng *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

/* Uniform in [0, below), below > 0; the bias is under 2^-32 for every range we ask for. */
static inline uint64_t rng_below(struct rng *r, uint64_t below)
{
    return (uint64_t)(((unsigned __int128)rng_next(r) * below) >> 64);
}

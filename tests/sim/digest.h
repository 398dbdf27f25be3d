/* digest.h - a number for all that was decided in a day.
 *
 * Two programs that decide alike have equal digests: each delta that a store has kept goes in, and each answer, in
 * their order. `sim --digest` adds up those of all days; a change that should change nothing leaves the sum alone.
 * Where nobody asks for it nothing is computed. */
#pragma once
#include "base/arena.h"
#include "job/command/command.h"

struct digest {
    bool wanted;
    uint64_t sum;
    struct arena scratch;
};

void digest_delta(struct digest *d, const struct delta *delta);
void digest_answer(struct digest *d, const struct command *cmd);

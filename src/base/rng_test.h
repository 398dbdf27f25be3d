/* rng_test.h - the seed of a random test: given as its first argument, else 1, and always said.
 *
 * A failing run is repeated by `build/gcc/test/src/base/heap_test SEED`. */
#pragma once
#include "base/rng.h"
#include "base/str.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static inline struct rng rng_for_test(int argc, char **argv)
{
    struct rng rng = {.state = 1};
    if (argc > 1)
        assert_true(str_to_u64(str_c(argv[1]), &rng.state));
    print_message("seed %" PRIu64 "\n", rng.state);
    return rng;
}

#include "world.h"

struct test_list promises;

int promises_run(const struct candidate *candidate)
{
    world_choose(candidate);
    return test_run(&promises, candidate->name);
}

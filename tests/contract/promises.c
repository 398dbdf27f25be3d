#include "world.h"

/* cmocka takes one array per group; a name tells which store failed which promise. */
int promises_run(const struct candidate *candidate)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const struct suite *suites[] = {
        &turn_suite,  &claim_suite,  &record_suite,     &question_suite, &state_suite,  &load_suite,
        &list_suite,  &logs_suite,   &checkpoint_suite, &edit_suite,     &letter_suite, &life_suite,
        &inbox_suite, &member_suite, &shared_suite,     &old_suite,      &report_suite};
    size_t count = 0;
    for (size_t i = 0; i < COUNT_OF(suites); i++)
        count += suites[i]->count;
    struct CMUnitTest *tests = ARENA_ARRAY(&arena, struct CMUnitTest, count);
    size_t at = 0;
    for (size_t i = 0; i < COUNT_OF(suites); i++) {
        for (size_t j = 0; j < suites[i]->count; j++) {
            tests[at] = suites[i]->tests[j];
            tests[at].name = arena_printf(&arena, "%s: %s", candidate->name, tests[at].name).ptr;
            at++;
        }
    }
    world_choose(candidate);
    return _cmocka_run_group_tests(candidate->name, tests, count, NULL, NULL);
}

#include "job/record/inbox.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void the_home_of_a_key_never_changes(void **state)
{
    (void)state;
    /* Permits that are kept are found by it: another hash would lose them. */
    assert_int_equal(inbox_home(STR("c:db")), inbox_home(STR("c:db")));
    assert_true(inbox_home(STR("c:db")) < ID_BUCKETS);
    assert_int_equal(inbox_home(STR("")), str_hash(STR("")) % ID_BUCKETS);
}

static void every_kind_has_a_word(void **state)
{
    (void)state;
    for (int kind = INBOX_SUBMIT; kind < INBOX_KINDS; kind++)
        assert_true(inbox_kind_name((enum inbox_kind)kind).len > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_home_of_a_key_never_changes),
        cmocka_unit_test(every_kind_has_a_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

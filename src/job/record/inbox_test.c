#include "job/record/inbox.h"

#include "base/test/test.h"

TEST(the_home_of_a_key_never_changes)
{
    /* Permits that are kept are found by it: another hash would lose them. */
    assert_int_equal(inbox_home(STR("c:db")), inbox_home(STR("c:db")));
    assert_true(inbox_home(STR("c:db")) < ID_BUCKETS);
    assert_int_equal(inbox_home(STR("")), str_hash(STR("")) % ID_BUCKETS);
}

TEST(every_kind_has_a_word)
{
    for (int kind = INBOX_SUBMIT; kind < INBOX_KINDS; kind++)
        assert_true(inbox_kind_name((enum inbox_kind)kind).len > 0);
}

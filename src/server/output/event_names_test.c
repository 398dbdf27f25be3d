#include "server/output/event_names.h"

#include "base/test/test.h"

#include <stdlib.h>

TEST(a_name_is_kept_once)
{
    struct event_names n = {0};
    char text[] = "mail";
    struct str first = event_names_keep(&n, str_c(text));
    event_names_keep(&n, STR("other"));
    text[0] = 'M';
    assert_true(str_eq(first, STR("mail")));
    assert_ptr_equal(event_names_keep(&n, STR("mail")).ptr, first.ptr);
    assert_int_equal(event_names_keep(&n, STR("")).len, 0);
    event_names_free(&n);
}

/* They were kept for as long as the server lived, however many came and went. */
TEST(a_name_outlives_one_turn_and_goes_with_the_second)
{
    struct event_names n = {0};
    struct strmap old;
    struct str first = event_names_keep(&n, STR("mail"));
    event_names_turn(&n, &old);
    assert_null(strmap_get(&old, STR("mail")));
    assert_true(str_eq(first, STR("mail")));
    assert_ptr_not_equal(event_names_keep(&n, STR("mail")).ptr, first.ptr);
    event_names_turn(&n, &old);
    assert_non_null(strmap_get(&old, STR("mail")));
    event_names_free_map(&old);
    event_names_free(&n);
}

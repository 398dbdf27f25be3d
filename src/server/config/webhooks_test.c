#include "base/test/test.h"
#include "server/config/webhooks.h"

#include <stdio.h>
#include <string.h>

TEST(addresses_stand_with_commas_between_them)
{
    char urls[] = "http://127.0.0.1/a,https://example.org/b";
    const char *parts[WEBHOOKS_MAX];
    unsigned count;
    struct err err;
    assert_int_equal(webhooks_split(urls, parts, &count, &err), RC_OK);
    assert_int_equal(count, 2);
    assert_string_equal(parts[0], "http://127.0.0.1/a");
    assert_string_equal(parts[1], "https://example.org/b");
}

TEST(no_address_at_all_is_fine)
{
    struct err err;
    assert_int_equal(webhooks_check("", &err), RC_OK);
}

TEST(an_address_that_is_none_is_refused)
{
    struct err err;
    assert_int_equal(webhooks_check("http://127.0.0.1/a,", &err), RC_INVALID);
    assert_int_equal(webhooks_check("ftp://127.0.0.1/a", &err), RC_INVALID);
}

/* An address may hold a password, and the refusal goes into a log. */
TEST(a_refusal_says_which_address_and_not_what_it_is)
{
    struct err err;
    assert_int_equal(webhooks_check("http://h/a,htp://u:secret@h/token", &err), RC_INVALID);
    assert_string_equal(err.text, "address 2 is not an http or https address");
}

TEST(there_are_eight_addresses_at_most)
{
    char urls[512] = "http://h/0";
    struct err err;
    for (int i = 1; i < WEBHOOKS_MAX; i++)
        (void)snprintf(urls + strlen(urls), sizeof urls - strlen(urls), ",http://h/%d", i);
    assert_int_equal(webhooks_check(urls, &err), RC_OK);
    (void)snprintf(urls + strlen(urls), sizeof urls - strlen(urls), ",http://h/more");
    assert_int_equal(webhooks_check(urls, &err), RC_INVALID);
    assert_string_equal(err.text, "at most 8 webhooks");
}

#include "base/err.h"
#include "base/test/test.h"
#include "store/postgres/dsn.h"

#include <string.h>

static void labelled(const char *url, const char *label)
{
    struct pg_place place;
    struct err err;
    assert_int_equal(pg_place_parse(url, &place, &err), RC_OK);
    assert_string_equal(place.label, label);
    pg_place_free(&place);
}

TEST(a_place_is_named_by_its_hosts_and_its_database)
{
    labelled("postgres://u:secret@db.example:5433/d", "db.example:5433/d");
    labelled("postgres://u:secret@a:1,b:2/d?connect_timeout=9", "a:1,b:2/d");
    labelled("postgres://u:se%40c%2Fret@a,b/d", "a:5432,b:5432/d");
    labelled("postgresql:///d?host=/run/postgresql&port=5433", "/run/postgresql:5433/d");
    labelled("postgres://u:se#cret@a:1/d?application_name=me@home", "a:1/d");
    labelled("postgres://u:s?ecret@a:1/d", "a:1/d");
    labelled("postgres:///d?host=@socket", "@socket:5432/d");
}

/* libpq takes what stands before the last @ as a host, or the password as a port. */
TEST(a_password_that_breaks_the_url_is_not_repeated)
{
    static const char *const urls[] = {
        "postgres://u:sec%zzret@a/d",   "postgres://u:se@cret@a:1/d",  "postgres://u:sec/ret@a:1/d",
        "postgres://u:12/secret@a:1/d", "postgres://u:s?e@cret@a:1/d", "postgres://u:secret",
        "postgres://u:secret@[::1/d",   "postgres://u:secret@a:port/d"};
    for (size_t i = 0; i < COUNT_OF(urls); i++) {
        struct pg_place place;
        struct err err;
        if (pg_place_parse(urls[i], &place, &err) == RC_OK)
            fail_msg("%s is %s", urls[i], place.label);
        assert_null(strstr(err.text, "ret"));
        assert_non_null(strstr(err.text, "%40"));
    }
}

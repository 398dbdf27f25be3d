#include "base/err.h"

#include "base/test/test.h"

#include <string.h>

TEST(an_error_has_a_code_and_a_sentence)
{
    struct err err;
    assert_int_equal(err_set(&err, RC_NOT_FOUND, "no job %d", 7), RC_NOT_FOUND);
    assert_int_equal(err.rc, RC_NOT_FOUND);
    assert_string_equal(err.text, "no job 7");
}

TEST(nobody_has_to_care_why)
{
    assert_int_equal(err_set(NULL, RC_BUSY, "queue %s is full", "a"), RC_BUSY);
}

TEST(a_note_goes_in_front_and_keeps_the_code)
{
    struct err err;
    err_set(&err, RC_IO, "disk is gone");
    assert_int_equal(err_note(&err, "record %d of %d", 2, 5), RC_IO);
    assert_string_equal(err.text, "record 2 of 5: disk is gone");
}

TEST(what_is_too_long_is_cut)
{
    struct err err;
    err_set(&err, RC_IO, "%0*d", 2 * ERR_TEXT_MAX, 1);
    assert_int_equal(strlen(err.text), ERR_TEXT_MAX - 1);
    err_note(&err, "while reading");
    assert_int_equal(strlen(err.text), ERR_TEXT_MAX - 1);
    assert_memory_equal(err.text, "while reading: 000", 18);
    err_note(&err, "%0*d", 2 * ERR_TEXT_MAX, 1);
    assert_int_equal(strlen(err.text), ERR_TEXT_MAX - 1);
}

TEST(every_code_has_a_name_of_its_own)
{
    for (int i = RC_OK; i <= RC_SHUTDOWN; i++) {
        assert_non_null(rc_name((enum rc)i));
        for (int k = RC_OK; k < i; k++)
            assert_string_not_equal(rc_name((enum rc)i), rc_name((enum rc)k));
    }
}

static enum rc tried(enum rc rc, int *after)
{
    TRY(rc);
    (*after)++;
    return RC_OK;
}

TEST(try_returns_at_once_on_failure)
{
    int after = 0;
    assert_int_equal(tried(RC_STALE, &after), RC_STALE);
    assert_int_equal(after, 0);
    assert_int_equal(tried(RC_OK, &after), RC_OK);
    assert_int_equal(after, 1);
}

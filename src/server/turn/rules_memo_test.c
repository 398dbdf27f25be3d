/* What is remembered is what would be read, for as long as somebody may look at it. */
#include "server/turn/rules_memo.h"

#include "base/test/test.h"
#include "wire/spec/spec_json.h"

static struct str document(struct arena *arena, int number)
{
    return arena_printf(arena,
                        "{\"handler\":\"h%d\",\"schedule\":{\"cron\":\"%d * * * *\","
                        "\"timezone\":\"Europe/Berlin\"}}",
                        number, number % 60);
}

static void assert_reads(struct rules_memo *m, struct arena *arena, int number)
{
    struct spec spec;
    struct spec fresh;
    struct str text = document(arena, number);
    assert_int_equal(rules_memo_read(m, text, arena, &spec, NULL), RC_OK);
    assert_int_equal(spec_read(text, arena, &fresh, NULL), RC_OK);
    assert_true(str_eq(spec.handler, fresh.handler));
    assert_true(str_eq(spec_text(&spec, arena), spec_text(&fresh, arena)));
    assert_memory_equal(&spec.cron, &fresh.cron, sizeof spec.cron);
}

TEST(what_comes_again_is_what_it_was)
{
    struct rules_memo m = {0};
    for (int i = 0; i < 6; i++) { /* what was read the first time is gone by the second */
        CLEANUP(arena_free) struct arena arena = {0};
        assert_reads(&m, &arena, i % 3);
    }
    assert_int_equal(m.specs.len, 3);
    rules_memo_free(&m);
}

TEST(what_cannot_be_read_is_not_remembered)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct rules_memo m = {0};
    struct spec spec;
    struct err err;
    for (int i = 0; i < 2; i++)
        assert_int_equal(rules_memo_read(&m, STR("{\"handler\":7}"), &arena, &spec, &err),
                         RC_INVALID);
    assert_int_equal(m.specs.len, 0);
    rules_memo_free(&m);
}

TEST(it_has_an_end_and_begins_anew_between_turns)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct rules_memo m = {0};
    struct spec first;
    assert_int_equal(rules_memo_read(&m, document(&arena, 0), &arena, &first, NULL), RC_OK);
    for (int i = 1; i < 5000; i++)
        assert_reads(&m, &arena, i);
    size_t most = m.specs.len;
    assert_true(most > 0 && most < 5000);
    assert_true(str_eq(first.handler, STR("h0"))); /* still there, within one turn */
    rules_memo_tidy(&m);
    assert_int_equal(m.specs.len, 0);
    assert_reads(&m, &arena, 4999);
    rules_memo_tidy(&m); /* there is room */
    assert_int_equal(m.specs.len, 1);
    rules_memo_free(&m);
}

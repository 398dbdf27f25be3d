#include "wire/spec/sla_json.h"

#include "base/test/test.h"
#include "wire/spec/spec_json.h"

#include <string.h>

static struct arena arena;

static int release(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static enum rc parse(const char *text, struct sla_wish *ret_wish, struct field_errors *errors)
{
    struct json doc;
    struct err err;
    assert_int_equal(json_parse(str_c(text), &arena, &doc, &err), RC_OK);
    *errors = (struct field_errors){.count = 0};
    return sla_wish_parse(&doc, &arena, ret_wish, errors);
}

TEST(a_wish_for_more_time_says_why_and_who_agreed, NULL, release)
{
    struct sla_wish wish;
    struct field_errors errors;
    assert_int_equal(
        parse("{\"by\": \"30m\", \"reason\": \"slow\", \"approver\": \"ada\"}", &wish, &errors),
        RC_OK);
    assert_int_equal(wish.by_ms, 1800000);
    assert_true(str_eq(wish.reason, STR("slow")) && str_eq(wish.approver, STR("ada")));
    assert_int_equal(wish.exec_id, 0);
    assert_int_equal(parse("{\"by\": \"30m\"}", &wish, &errors), RC_INVALID);
    assert_int_equal(errors.count, 2);
    assert_string_equal(errors.items[0].field.ptr, "reason");
    assert_string_equal(errors.items[1].field.ptr, "approver");
}

static enum rc read(const char *sla, struct spec *ret_spec, struct err *err)
{
    struct str text = arena_printf(&arena, "{\"command\": \"x\", \"sla\": %s}", sla);
    return spec_read(text, &arena, ret_spec, err);
}

static void assert_refused(const char *sla, const char *words)
{
    struct spec spec;
    struct err err;
    assert_int_equal(read(sla, &spec, &err), RC_INVALID);
    if (strstr(err.text, words) == NULL)
        fail_msg("'%s' does not say '%s'", err.text, words);
}

TEST(an_sla_has_one_limit_at_least_and_both_in_order, NULL, release)
{
    struct spec spec;
    struct err err;
    assert_int_equal(read("{\"max\": \"1h\"}", &spec, &err), RC_OK);
    assert_true(spec.sla.max_ms == 3600000 && spec.sla.expected_ms == 0);
    assert_int_equal(spec.sla.policy, SLA_FLEXIBLE);
    assert_int_equal(
        read("{\"expected\": \"1m\", \"max\": \"1m\", \"policy\": \"strict\"}", &spec, &err),
        RC_OK);
    assert_int_equal(spec.sla.policy, SLA_STRICT);
    assert_refused("{\"policy\": \"strict\"}", "sla must have expected, max, or both");
    assert_refused("{\"expected\": \"2m\", \"max\": \"1m\"}",
                   "sla.expected must not be longer than max");
    assert_refused("{\"max\": \"1m\", \"policy\": \"soft\"}",
                   "sla.policy must be one of strict, flexible and warning_only");
}

TEST(what_was_understood_is_understood_again, NULL, release)
{
    struct spec first;
    struct spec second;
    struct err err;
    assert_int_equal(read("{\"expected\": \"90s\", \"policy\": \"warning_only\"}", &first, &err),
                     RC_OK);
    assert_int_equal(spec_read(spec_text(&first, &arena), &arena, &second, &err), RC_OK);
    assert_memory_equal(&first.sla, &second.sla, sizeof first.sla);
}

static struct str printed(const struct sla_report *report)
{
    CLEANUP(buf_free) struct buf out = BUF(4096);
    struct json_writer w = JSON_WRITER(&out);
    sla_report_print(&w, 1, report);
    return arena_str(&arena, buf_str(&out));
}

static bool has(struct str text, const char *part)
{
    return memmem(text.ptr, text.len, part, strlen(part)) != NULL;
}

TEST(a_report_has_averages_only_of_what_there_is, NULL, release)
{
    struct str none = printed(&(struct sla_report){.end_ms = 1});
    assert_true(has(none, "\"rate\":null") && has(none, "\"average_duration_ms\":null"));
    assert_true(has(none, "\"average_overrun_ms\":null"));
    struct str some = printed(&(struct sla_report){
        .total = 3, .violated = 1, .duration_ms = 600, .overruns = 2, .overrun_ms = 50});
    assert_true(has(some, "\"met\":2") && has(some, "\"rate\":0.6666"));
    assert_true(has(some, "\"average_duration_ms\":200"));
    assert_true(has(some, "\"average_overrun_ms\":25"));
    assert_true(has(printed(&(struct sla_report){.total = 1}), "\"rate\":1.0000"));
}

#include "base/id.h"
#include "job/trace/trace.h"

#include "base/test/test.h"

#define GOOD "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

static void assert_text(struct str text, struct str expected)
{
    if (!str_eq(text, expected))
        fail_msg("%.*s is not %.*s", STR_ARG(text), STR_ARG(expected));
}

static bool parses(const char *text, struct trace_parent *ret_parent)
{
    return trace_parent_parse(str_c(text), ret_parent);
}

TEST(a_traceparent_is_read_and_printed)
{
    struct trace_parent p;
    char text[TRACE_TEXT_MAX];
    assert_true(parses(GOOD, &p));
    assert_true(p.trace.high == 0x4bf92f3577b34da6 && p.trace.low == 0xa3ce929d0e0e4736);
    assert_true(p.span == 0x00f067aa0ba902b7);
    assert_int_equal(p.flags, TRACE_SAMPLED);
    assert_text(trace_parent_format(text, &p), STR(GOOD));
    assert_text(trace_id_format(text, p.trace), STR("4bf92f3577b34da6a3ce929d0e0e4736"));
    assert_text(trace_span_format(text, p.span), STR("00f067aa0ba902b7"));
}

TEST(what_is_not_a_traceparent_is_none)
{
    static const char *const wrong[] = {
        "",
        "00",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",   /* no flags */
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1", /* cut */
        GOOD "-",                                                 /* version 00 ends there */
        GOOD "0",
        GOOD "-more",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", /* forbidden version */
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", /* capitals */
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00F067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01", /* no trace */
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", /* no span */
        "00-4bf92f3577b34da6a3ce929d0e0e473-000f067aa0ba902b7-01", /* dash at the wrong place */
        "00_4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7_01",
        "0g-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0x",
        " " GOOD,
        "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.what",
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct trace_parent p;
        if (parses(wrong[i], &p))
            fail_msg("accepted: %s", wrong[i]);
    }
}

TEST(a_version_to_come_is_read_as_far_as_it_is_known)
{
    struct trace_parent p;
    assert_true(parses("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-ff-what", &p));
    assert_int_equal(p.flags, TRACE_SAMPLED);
    assert_true(parses("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", &p));
    assert_int_equal(p.flags, 0);
}

TEST(flags_that_are_not_known_are_not_passed_on)
{
    struct trace_parent p;
    char text[TRACE_TEXT_MAX];
    assert_true(parses("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-ff", &p));
    assert_text(trace_parent_format(text, &p),
                STR("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03"));
}

TEST(the_id_of_a_trace_reads_back)
{
    struct trace_id id = {.high = 0, .low = 0xab};
    struct trace_id back;
    char text[TRACE_TEXT_MAX];
    assert_true(trace_id_parse(trace_id_format(text, id), &back));
    assert_true(trace_id_eq(id, back));
    assert_false(trace_id_parse(STR("ab"), &back));
    assert_false(trace_id_parse(STR("00000000000000000000000000000000"), &back));
    assert_false(trace_id_parse(STR("000000000000000000000000000000abc"), &back));
}

/* ---- tracestate */

static bool reads_as(struct str text, struct str expected)
{
    CLEANUP(buf_free) struct buf out = BUF(2 * TRACE_STATE_MAX);
    buf_add(&out, STR("before"));
    bool ok = trace_state_read(text, &out);
    assert_text(buf_str(&out), expected);
    return ok;
}

TEST(the_members_of_a_tracestate_are_kept_in_their_order)
{
    assert_true(reads_as(STR(""), STR("before")));
    assert_true(reads_as(STR("rojo=1"), STR("beforerojo=1")));
    assert_true(reads_as(STR(" congo=t61 ,\trojo=00f , ,"), STR("beforecongo=t61,rojo=00f")));
    assert_true(reads_as(STR("fw529a3039@dt=FfAD!, a-b_c*d/e=x y"),
                         STR("beforefw529a3039@dt=FfAD!,a-b_c*d/e=x y")));
}

TEST(a_bad_tracestate_is_dropped_as_a_whole)
{
    static const char *const wrong[] = {
        "a",     "a=",    "=1",     "A=1",        "a=1,b",       "_a=1",
        "a=1=2", "a b=1", "a=\x01", "a=\xc3\xa4", "a=1,b=2,a=3", "a=1;b=2\n",
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        if (reads_as(str_c(wrong[i]), STR("before")))
            fail_msg("accepted: %s", wrong[i]);
    }
}

/* `count` members of `bytes` bytes each. */
static bool members_read(size_t count, size_t bytes)
{
    CLEANUP(buf_free) struct buf text = BUF(1 << 16);
    CLEANUP(buf_free) struct buf out = BUF(1 << 16);
    for (size_t i = 0; i < count; i++) {
        buf_printf(&text, "%sk%02zu=", i > 0 ? "," : "", i);
        for (size_t j = 4; j < bytes; j++)
            buf_add_char(&text, 'x');
    }
    bool ok = trace_state_read(buf_str(&text), &out);
    assert_true(ok ? out.len == text.len : out.len == 0);
    return ok;
}

TEST(a_tracestate_has_at_most_32_members_and_512_bytes)
{
    assert_true(members_read(32, 15));
    assert_false(members_read(33, 5));
    assert_true(members_read(2, 255));  /* 511 with the comma */
    assert_true(members_read(3, 170));  /* 512 */
    assert_false(members_read(4, 128)); /* 515 */
    assert_true(members_read(1, 4 + 256));
    assert_false(members_read(1, 4 + 257)); /* longer than a value may be */
}

/* ---- derived ids */

enum { MANY = 20000 };

static uint64_t nth_id(struct id_gen *gen, size_t i)
{
    return id_next(gen, ID_EPOCH_MS + (int64_t)(i / 7), 0);
}

TEST(traces_of_executions_are_sampled_evenly)
{
    static const double ratios[] = {0, 0.01, 0.5, 1};
    for (size_t r = 0; r < sizeof(ratios) / sizeof(*ratios); r++) {
        struct trace_ratio ratio = trace_ratio_of(ratios[r]);
        struct id_gen gen = {0};
        double sampled = 0;
        for (size_t i = 0; i < MANY; i++)
            sampled += trace_ratio_has(ratio, trace_of_exec(1, nth_id(&gen, i))) ? 1 : 0;
        double off = sampled / MANY - ratios[r];
        assert_true(off < 0.01 && off > -0.01);
        assert_true(ratios[r] * (1 - ratios[r]) > 0 || off == 0); /* none and all are exact */
    }
}

TEST(derived_ids_stay_the_same)
{
    /* Other servers, newer versions included, must come to the same ones. */
    struct trace_id trace = trace_of_exec(7, 123456789);
    char text[TRACE_TEXT_MAX];
    assert_text(trace_id_format(text, trace), STR("d49f1d3284731437c1d04fb4919cc9a0"));
    assert_text(trace_span_format(text, trace_span_of(7, 123456789, TRACE_SPAN_ATTEMPT, 3)),
                STR("852a444269678fec"));
}

TEST(each_realm_execution_kind_and_number_has_ids_of_its_own)
{
    uint64_t spans[2 * 2 * TRACE_SPAN_KINDS * 3];
    size_t count = 0;
    for (uint64_t realm = 1; realm <= 2; realm++) {
        for (uint64_t exec = 1; exec <= 2; exec++) {
            for (enum trace_span_kind kind = 0; kind < TRACE_SPAN_KINDS; kind++) {
                for (uint64_t number = 0; number < 3; number++)
                    spans[count++] = trace_span_of(realm, exec, kind, number);
            }
        }
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++)
            assert_true(spans[i] != spans[j]);
    }
    assert_false(trace_id_eq(trace_of_exec(1, 5), trace_of_exec(2, 5)));
    assert_false(trace_id_eq(trace_of_exec(1, 5), trace_of_exec(1, 6)));
}

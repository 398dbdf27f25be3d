#include "base/when.h"
#include "job/time/tzif_test.h"
#include "job/time/zone.h"

#include <stdio.h>
#include <string.h>

static int64_t at(const char *text)
{
    int64_t ms;
    struct err err;
    if (when_parse(str_c(text), &ms, &err))
        fail_msg("%s", err.text);
    return ms / 1000;
}

static int32_t offset_of(const struct zone *zone, const char *when)
{
    return zone_span(zone, at(when)).offset_s;
}

TEST(utc_never_changes)
{
    struct zone_span span = zone_span(zone_utc(), at("2026-11-16T00:00:00Z"));
    assert_int_equal(span.offset_s, 0);
    assert_int_equal(span.begin_s, -ZONE_EVER_S);
    assert_int_equal(span.end_s, ZONE_EVER_S);
}

TEST(a_file_of_version_1_has_its_changes_and_no_future)
{
    struct zone *zone = tzif_zone_of(&(struct tzif){
        .times = (int64_t[]){-100, 1000},
        .kinds = (uint8_t[]){1, 2},
        .time_count = 2,
        .offsets = (int32_t[]){-2670, 3600, 7200},
        .offset_count = 3,
    });
    assert_int_equal(zone_span(zone, -101).offset_s, -2670);
    assert_int_equal(zone_span(zone, -100).offset_s, 3600);
    assert_int_equal(zone_span(zone, 999).offset_s, 3600);
    assert_int_equal(zone_span(zone, 1000).offset_s, 7200);
    assert_int_equal(zone_span(zone, 999).begin_s, -100);
    assert_int_equal(zone_span(zone, 999).end_s, 1000);
    assert_int_equal(zone_span(zone, ZONE_MAX_S).offset_s, 7200);
    zone_free(zone);
}

TEST(a_change_to_the_same_offset_is_none)
{
    struct zone *zone = tzif_zone_of(&(struct tzif){
        .version = '2',
        .times = (int64_t[]){10, 20, 30},
        .kinds = (uint8_t[]){1, 2, 0},
        .time_count = 3,
        .offsets = (int32_t[]){0, 3600, 3600},
        .offset_count = 3,
        .footer = "",
    });
    assert_int_equal(zone_span(zone, 10).end_s, 30);
    assert_int_equal(zone_span(zone, 30).end_s, ZONE_EVER_S);
    zone_free(zone);
}

TEST(what_changed_before_the_year_0_is_how_it_began)
{
    struct zone *zone = tzif_zone_of(&(struct tzif){
        .version = '2',
        .times = (int64_t[]){-(INT64_C(1) << 59), 0, INT64_MAX},
        .kinds = (uint8_t[]){1, 0, 1},
        .time_count = 3,
        .offsets = (int32_t[]){0, 3600},
        .offset_count = 2,
        .footer = "CET-1CEST,M3.5.0,M10.5.0/3",
    });
    assert_int_equal(zone_span(zone, -1).offset_s, 3600);
    assert_int_equal(zone_span(zone, -1).begin_s, -ZONE_EVER_S);
    assert_int_equal(zone_span(zone, 0).end_s, ZONE_EVER_S);
    zone_free(zone);
}

TEST(the_footer_rules_the_future)
{
    struct zone *zone = tzif_zone("CET-1CEST,M3.5.0,M10.5.0/3");
    static const char *const years[] = {"2026", "2100", "2400", "2826", "9999"};
    for (size_t i = 0; i < COUNT_OF(years); i++) {
        char text[32];
        snprintf(text, sizeof text, "%s-01-15T00:00:00Z", years[i]);
        assert_int_equal(offset_of(zone, text), 3600);
        snprintf(text, sizeof text, "%s-07-15T00:00:00Z", years[i]);
        assert_int_equal(offset_of(zone, text), 7200);
    }
    /* the last Sunday of March 2100 is the 28th, and of October the 31st */
    struct zone_span summer = zone_span(zone, at("2100-07-01T00:00:00Z"));
    assert_int_equal(summer.begin_s, at("2100-03-28T01:00:00Z"));
    assert_int_equal(summer.end_s, at("2100-10-31T01:00:00Z"));
    summer = zone_span(zone, at("2500-07-01T00:00:00Z"));
    assert_int_equal(summer.begin_s, at("2500-03-28T01:00:00Z"));
    zone_free(zone);
}

TEST(stretches_follow_each_other_without_a_hole)
{
    struct zone *zone = tzif_zone("EST5EDT,M3.2.0,M11.1.0");
    size_t count = 0;
    struct zone_span span = zone_span(zone, at("1950-01-01T00:00:00Z"));
    while (span.end_s < ZONE_MAX_S) {
        struct zone_span next = zone_span(zone, span.end_s);
        assert_int_equal(next.begin_s, span.end_s);
        assert_int_not_equal(next.offset_s, span.offset_s);
        struct zone_span again = zone_span(zone, next.begin_s - 1);
        assert_int_equal(again.begin_s, span.begin_s);
        span = next;
        count++;
    }
    assert_int_equal(count, 2 * (9999 - 1950 + 1));
    zone_free(zone);
}

TEST(daylight_saving_time_may_be_negative)
{
    struct zone *zone = tzif_zone("IST-1GMT0,M10.5.0,M3.5.0/1");
    assert_int_equal(offset_of(zone, "2100-01-15T00:00:00Z"), 0);
    assert_int_equal(offset_of(zone, "2100-07-15T00:00:00Z"), 3600);
    zone_free(zone);
}

TEST(it_may_span_the_turn_of_the_year)
{
    struct zone *zone = tzif_zone("AEST-10AEDT,M10.1.0,M4.1.0/3");
    assert_int_equal(offset_of(zone, "2100-01-15T00:00:00Z"), 11 * 3600);
    assert_int_equal(offset_of(zone, "2100-07-15T00:00:00Z"), 10 * 3600);
    zone_free(zone);
}

TEST(it_may_last_all_year)
{
    struct zone *zone = tzif_zone("EST5EDT4,0/0,J365/25");
    struct zone_span span = zone_span(zone, at("2100-01-01T00:00:00Z"));
    assert_int_equal(span.offset_s, -4 * 3600);
    assert_int_equal(span.end_s, ZONE_EVER_S);
    zone_free(zone);
}

TEST(rules_count_days_in_three_ways)
{
    struct zone *zone = tzif_zone("<-02>2<-01>,J60/-1,59/24:30:15");
    /* J60 is 1 March in every year, and an hour before its midnight; day 59, counted from 0, is
     * 29 February in a leap year and 1 March in others, and half past midnight the day after */
    struct zone_span span = zone_span(zone, at("2028-03-01T01:10:00Z"));
    assert_int_equal(span.begin_s, at("2028-03-01T01:00:00Z"));
    assert_int_equal(span.end_s, at("2028-03-01T01:30:15Z"));
    assert_int_equal(span.offset_s, -3600);
    span = zone_span(zone, at("2029-03-01T12:00:00Z"));
    assert_int_equal(span.begin_s, at("2029-03-01T01:00:00Z"));
    assert_int_equal(span.end_s, at("2029-03-02T01:30:15Z"));
    zone_free(zone);
}

TEST(a_local_time_is_once_never_or_twice)
{
    struct zone *zone = tzif_zone("CET-1CEST,M3.5.0,M10.5.0/3");
    struct zone_moments found = zone_from_local(zone, at("2026-11-16T03:00:00Z"));
    assert_int_equal(found.fit, ZONE_ONCE);
    assert_int_equal(found.first_s, at("2026-11-16T02:00:00Z"));
    found = zone_from_local(zone, at("2026-03-29T02:30:00Z"));
    assert_int_equal(found.fit, ZONE_GAP);
    assert_int_equal(found.first_s, at("2026-03-29T01:00:00Z"));
    found = zone_from_local(zone, at("2026-10-25T02:30:00Z"));
    assert_int_equal(found.fit, ZONE_FOLD);
    assert_int_equal(found.first_s, at("2026-10-25T00:30:00Z"));
    assert_int_equal(found.last_s, at("2026-10-25T01:30:00Z"));
    /* the first moment behind a gap exists, the last before a fold's end comes twice */
    assert_int_equal(zone_from_local(zone, at("2026-03-29T03:00:00Z")).fit, ZONE_ONCE);
    assert_int_equal(zone_from_local(zone, at("2026-10-25T02:59:59Z")).fit, ZONE_FOLD);
    assert_int_equal(zone_from_local(zone, at("2026-10-25T03:00:00Z")).fit, ZONE_ONCE);
    zone_free(zone);
}

/* ---- bytes from anywhere */

static void expect_refusal(struct str bytes, const char *part)
{
    struct zone *zone = NULL;
    struct err err = {0};
    assert_int_equal(zone_parse(bytes, &zone, &err), RC_CORRUPT);
    if (strstr(err.text, part) == NULL)
        fail_msg("'%s' does not say '%s'", err.text, part);
}

static void expect_refused_file(const struct tzif *t, const char *part)
{
    CLEANUP(buf_free) struct buf bytes = BUF(1 << 20);
    tzif_print(&bytes, t);
    expect_refusal(buf_str(&bytes), part);
}

static const int32_t hour = 3600;

TEST(other_files_are_refused)
{
    static char large[ZONE_BYTES_MAX + 1];
    expect_refusal(STR(""), "44 bytes are missing");
    expect_refusal(STR("# tzdb data for Europe and environs, as text"), "no time zone file");
    expect_refusal(str_of(large, sizeof large), "more than");
    expect_refused_file(&(struct tzif){.version = '1', .offsets = &hour, .offset_count = 1},
                        "version");
}

TEST(a_file_that_is_cut_anywhere_is_refused)
{
    CLEANUP(buf_free) struct buf bytes = BUF(1 << 20);
    struct zone *zone;
    tzif_print(&bytes, &(struct tzif){.version = '2',
                                      .times = (int64_t[]){5},
                                      .kinds = (uint8_t[]){0},
                                      .time_count = 1,
                                      .offsets = &hour,
                                      .offset_count = 1,
                                      .footer = "CET-1"});
    for (size_t len = 0; len < bytes.len; len++)
        assert_int_equal(zone_parse(str_of(bytes.ptr, len), &zone, NULL), RC_CORRUPT);
    assert_int_equal(zone_parse(buf_str(&bytes), &zone, NULL), RC_OK);
    zone_free(zone);
}

TEST(counts_that_make_no_sense_are_refused)
{
    CLEANUP(buf_free) struct buf bytes = BUF(1 << 20);
    expect_refused_file(&(struct tzif){.version = 0}, "0 types of local time");
    expect_refused_file(&(struct tzif){.leaps = 1, .offsets = &hour, .offset_count = 1},
                        "leap seconds");
    tzif_print(&bytes, &(struct tzif){.offsets = &hour, .offset_count = 1});
    memset(bytes.ptr + 32, 0xff, 4); /* four thousand million changes */
    expect_refusal(buf_str(&bytes), "cut short");
}

TEST(changes_that_make_no_sense_are_refused)
{
    struct tzif t = {
        .times = (int64_t[]){5, 5},
        .kinds = (uint8_t[]){0, 0},
        .time_count = 2,
        .offsets = &hour,
        .offset_count = 1,
    };
    expect_refused_file(&t, "change 2 is not after the one before");
    t.kinds = (uint8_t[]){0, 1};
    t.times = (int64_t[]){5, 6};
    expect_refused_file(&t, "change 2 is to a type that is not there");
    t.kinds = (uint8_t[]){0, 0};
    t.offsets = (int32_t[]){93600};
    expect_refused_file(&t, "an offset of 93600 seconds");
}

TEST(footers_that_make_no_sense_are_refused)
{
    static const char *const bad[] = {"C-1",
                                      "CET",
                                      "CET-25",
                                      "CET-1CEST",
                                      "CET-1CEST,M3",
                                      "<CET-1",
                                      "CET-1CEST,M3.5.0",
                                      "CET-1CEST,M13.5.0,M10.5.0",
                                      "CET-1CE,1,2",
                                      "CET-1CEST,J0,1",
                                      "CET-1CEST,1,366",
                                      "CET-1CEST,M3.5.0,M10.5.0/168",
                                      "CET-1CEST,1,2x"};
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        expect_refused_file(
            &(struct tzif){.version = '2', .offsets = &hour, .offset_count = 1, .footer = bad[i]},
            "the rule for the future");
    expect_refused_file(&(struct tzif){.version = '2', .offsets = &hour, .offset_count = 1},
                        "the footer is missing");
}

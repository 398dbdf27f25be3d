#include "base/test/test.h"
#include "job/record/filter.h"
#include "job/record/record.h"

static struct arena arena;

static enum rc set(struct filter *f, enum filter_of of, const char *name, const char *value)
{
    struct err err;
    return filter_set(f, of, str_c(name), str_c(value), &arena, &err);
}

static struct filter made(enum filter_of of, const char *name, const char *value)
{
    struct filter f = {0};
    assert_int_equal(set(&f, of, name, value), RC_OK);
    return f;
}

static const struct job_rec job = {
    .id = 7,
    .state = JOB_ACTIVE,
    .name = STR_INIT("nightly-report"),
    .queue = STR_INIT("mail"),
    .owner = STR_INIT("key:ci"),
    .team = STR_INIT("data"),
    .tags = STR_INIT("\nenv:prod\nteam:ops\n"),
    .created_ms = 1000,
};
static const struct attempt_rec attempt = {
    .worker_id = 5, .class = FAILURE_NETWORK, .fingerprint = 0xabc};
static const struct exec_rec exec = {.id = 9,
                                     .job_id = 7,
                                     .state = EXEC_FAILED,
                                     .queue = STR_INIT("mail"),
                                     .created_ms = 1000,
                                     .started_ms = 2000,
                                     .finished_ms = 3000};

static bool fits_job(const struct filter *f)
{
    return filter_fits(f, &(struct filter_facts){.job = &job, .phase = PHASE_WAITING});
}

static bool fits_exec(const struct filter *f)
{
    return filter_fits(f, &(struct filter_facts){.exec = &exec, .job = &job, .attempt = &attempt});
}

TEST(every_parameter_restricts_jobs)
{
    static const struct {
        const char *name;
        const char *fits;
        const char *other;
    } params[] = {
        {"status", "active", "paused"},
        {"phase", "waiting", "running"},
        {"name", "nightly-report", "nightly"},
        {"queue", "mail", "bulk"},
        {"owner", "key:ci", "key:admin"},
        {"team", "data", "web"},
        {"tag", "env:prod", "env:test"},
        {"created_after", "1970-01-01T00:00:01Z", "1970-01-01T00:00:01.001Z"},
        {"created_before", "1970-01-01T00:00:01.001Z", "1970-01-01T00:00:01Z"},
    };
    for (size_t i = 0; i < COUNT_OF(params); i++) {
        struct filter fits = made(FILTER_OF_JOBS, params[i].name, params[i].fits);
        struct filter other = made(FILTER_OF_JOBS, params[i].name, params[i].other);
        assert_true(fits_job(&fits));
        assert_false(fits_job(&other));
    }
}

TEST(every_parameter_restricts_executions)
{
    static const struct {
        const char *name;
        const char *fits;
        const char *other;
    } params[] = {
        {"status", "failed", "running"},
        {"name", "nightly-*", "daily-*"},
        {"queue", "mail", "bulk"},
        {"owner", "key:ci", "key:admin"},
        {"team", "data", "web"},
        {"tag", "team:ops", "env:test"},
        {"job", "job_0000000000007", "job_0000000000008"},
        {"class", "network_error", "timeout"},
        {"fingerprint", "000000000abc", "000000000abd"},
        {"worker", "wrk_0000000000005", "wrk_0000000000006"},
        {"started_after", "1970-01-01T00:00:02Z", "1970-01-01T00:00:03Z"},
        {"started_before", "1970-01-01T00:00:03Z", "1970-01-01T00:00:02Z"},
        {"finished_after", "1970-01-01T00:00:03Z", "1970-01-01T00:00:04Z"},
        {"finished_before", "1970-01-01T00:00:04Z", "1970-01-01T00:00:03Z"},
    };
    for (size_t i = 0; i < COUNT_OF(params); i++) {
        struct filter fits = made(FILTER_OF_EXECS, params[i].name, params[i].fits);
        struct filter other = made(FILTER_OF_EXECS, params[i].name, params[i].other);
        assert_true(fits_exec(&fits));
        assert_false(fits_exec(&other));
    }
}

TEST(one_of_several_states_and_queues_has_to_fit_and_all_of_the_tags)
{
    struct filter f = made(FILTER_OF_JOBS, "status", "paused");
    assert_int_equal(set(&f, FILTER_OF_JOBS, "status", "active"), RC_OK);
    assert_int_equal(set(&f, FILTER_OF_JOBS, "queue", "bulk"), RC_OK);
    assert_int_equal(set(&f, FILTER_OF_JOBS, "queue", "mail"), RC_OK);
    assert_int_equal(set(&f, FILTER_OF_JOBS, "tag", "team:ops"), RC_OK);
    assert_int_equal(set(&f, FILTER_OF_JOBS, "tag", "env:prod"), RC_OK);
    assert_true(fits_job(&f));
    assert_int_equal(set(&f, FILTER_OF_JOBS, "tag", "env:test"), RC_OK);
    assert_false(fits_job(&f));
}

TEST(a_filter_by_running_means_stopping_too)
{
    struct filter f = made(FILTER_OF_EXECS, "status", "running");
    assert_true(filter_has_state(&f, EXEC_STOPPING));
    assert_false(filter_has_state(&f, EXEC_QUEUED));
}

TEST(what_has_not_ended_is_in_no_span_of_ends)
{
    struct filter f = made(FILTER_OF_JOBS, "finished_before", "2030-01-01T00:00:00Z");
    assert_false(fits_job(&f));
    struct filter over = made(FILTER_OF_EXECS, "finished_before", "2030-01-01T00:00:00Z");
    assert_int_equal(filter_states(&over, FILTER_OF_EXECS), FILTER_FINAL);
}

TEST(a_star_stands_for_any_text)
{
    static const struct {
        const char *pattern;
        const char *name;
        bool fits;
    } cases[] = {
        {"a*", "abc", true},    {"a*", "a", true},        {"a*", "ba", false},
        {"*c", "abc", true},    {"*c", "abcd", false},    {"*", "", true},
        {"a*c", "abcbc", true}, {"a*b*c", "aXbYc", true}, {"a*b*c", "aXcYb", false},
        {"a**c", "ac", true},   {"a\\*", "a*", true},     {"a\\*", "ab", false},
        {"*\\*", "ab*", true},  {"a\\b*", "a\\bc", true}, {"*aab", "aaaab", true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(filter_name_fits(str_c(cases[i].pattern), str_c(cases[i].name)),
                         cases[i].fits);
}

TEST(a_name_without_a_star_is_a_whole_name)
{
    struct filter plain = made(FILTER_OF_JOBS, "name", "a\\*b");
    assert_true(str_eq(plain.name, STR("a*b")));
    assert_int_equal(plain.pattern.len, 0);
    struct filter pattern = made(FILTER_OF_JOBS, "name", "a*");
    assert_int_equal(pattern.name.len, 0);
}

TEST(names_that_begin_so_stand_between_two_texts)
{
    static const struct {
        const char *pattern;
        const char *prefix; /* NULL: it has another form */
        const char *end;
    } cases[] = {
        {"abc*", "abc", "abd"},
        {"a\\**", "a*", "a+"},
        {"abc\x7f*", "abc\x7f", "abc\xc2\x80"},
        {"\xed\x9f\xbf*", "\xed\x9f\xbf", "\xee\x80\x80"},
        {"a\xf4\x8f\xbf\xbf*", "a\xf4\x8f\xbf\xbf", "b"},
        {"a\xef\xbf\xbf*", "a\xef\xbf\xbf", "a\xf0\x90\x80\x80"},
        {"a*b", NULL, NULL},
        {"*", NULL, NULL},
        {"abc", NULL, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct filter f = made(FILTER_OF_JOBS, "name", cases[i].pattern);
        struct str prefix;
        assert_int_equal(filter_prefix(&f, &arena, &prefix), cases[i].prefix != NULL);
        if (cases[i].prefix == NULL)
            continue;
        assert_true(str_eq(prefix, str_c(cases[i].prefix)));
        assert_true(str_eq(filter_prefix_end(prefix, &arena), str_c(cases[i].end)));
    }
}

TEST(values_that_mean_nothing_are_refused)
{
    static const struct {
        enum filter_of of;
        const char *name;
        const char *value;
        enum rc rc;
    } cases[] = {
        {FILTER_OF_JOBS, "status", "queued", RC_INVALID},
        {FILTER_OF_EXECS, "status", "active", RC_INVALID},
        {FILTER_OF_JOBS, "phase", "sleeping", RC_INVALID},
        {FILTER_OF_EXECS, "phase", "running", RC_NOT_FOUND},
        {FILTER_OF_JOBS, "class", "timeout", RC_NOT_FOUND},
        {FILTER_OF_EXECS, "class", "bad_luck", RC_INVALID},
        {FILTER_OF_EXECS, "fingerprint", "xyz", RC_INVALID},
        {FILTER_OF_EXECS, "worker", "job_0000000000007", RC_INVALID},
        {FILTER_OF_EXECS, "job", "job_0000000000000", RC_INVALID},
        {FILTER_OF_JOBS, "tag", "prod", RC_INVALID},
        {FILTER_OF_JOBS, "queue", "a\nb", RC_INVALID},
        {FILTER_OF_JOBS, "name", "\xff", RC_INVALID},
        {FILTER_OF_JOBS, "name", "", RC_INVALID},
        {FILTER_OF_JOBS, "created_after", "yesterday", RC_INVALID},
        {FILTER_OF_JOBS, "created_after", "1969-01-01T00:00:00Z", RC_INVALID},
        {FILTER_OF_JOBS, "colour", "red", RC_NOT_FOUND},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct filter f = {0};
        assert_int_equal(set(&f, cases[i].of, cases[i].name, cases[i].value), cases[i].rc);
    }
}

static enum rc checked(const struct filter *f, enum filter_of of, const char *expected)
{
    struct str name;
    struct err err;
    enum rc rc = filter_check(f, of, &name, &err);
    if (rc != RC_OK)
        assert_true(str_eq(name, str_c(expected)));
    return rc;
}

TEST(a_span_that_ends_before_it_begins_is_refused)
{
    struct filter f = made(FILTER_OF_EXECS, "started_after", "2026-02-01T00:00:00Z");
    assert_int_equal(checked(&f, FILTER_OF_EXECS, ""), RC_OK);
    assert_int_equal(set(&f, FILTER_OF_EXECS, "started_before", "2026-02-01T00:00:00Z"), RC_OK);
    assert_int_equal(checked(&f, FILTER_OF_EXECS, "started_before"), RC_INVALID);
}

TEST(what_cannot_be_combined_is_refused)
{
    struct filter f = made(FILTER_OF_EXECS, "job", "job_0000000000007");
    assert_int_equal(set(&f, FILTER_OF_EXECS, "name", "a"), RC_OK);
    assert_int_equal(checked(&f, FILTER_OF_EXECS, "job"), RC_INVALID);
    f = made(FILTER_OF_EXECS, "class", "timeout");
    assert_int_equal(set(&f, FILTER_OF_EXECS, "status", "completed"), RC_OK);
    assert_int_equal(checked(&f, FILTER_OF_EXECS, "class"), RC_INVALID);
}

TEST(a_filter_that_nothing_can_fit_is_refused)
{
    static const struct {
        enum filter_of of;
        const char *first[2];
        const char *second[2];
        const char *refused; /* NULL: some may fit */
    } cases[] = {
        {FILTER_OF_JOBS, {"status", "paused"}, {"phase", "failed"}, "phase"},
        {FILTER_OF_JOBS, {"status", "completed"}, {"phase", "running"}, NULL},
        {FILTER_OF_JOBS, {"phase", "waiting"}, {"finished_after", "2026-01-01T00:00:00Z"}, "phase"},
        {FILTER_OF_JOBS,
         {"status", "active"},
         {"finished_after", "2026-01-01T00:00:00Z"},
         "status"},
        {FILTER_OF_JOBS, {"status", "failed"}, {"finished_after", "2026-01-01T00:00:00Z"}, NULL},
        {FILTER_OF_EXECS,
         {"status", "running"},
         {"finished_before", "2026-01-01T00:00:00Z"},
         "status"},
        {FILTER_OF_EXECS, {"status", "expired"}, {"finished_before", "2026-01-01T00:00:00Z"}, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct filter f = made(cases[i].of, cases[i].first[0], cases[i].first[1]);
        assert_int_equal(checked(&f, cases[i].of, ""), RC_OK);
        assert_int_equal(set(&f, cases[i].of, cases[i].second[0], cases[i].second[1]), RC_OK);
        assert_int_equal(checked(&f, cases[i].of, cases[i].refused),
                         cases[i].refused == NULL ? RC_OK : RC_INVALID);
    }
}

TEST(a_filter_that_was_printed_is_read_as_it_was)
{
    static const char *const all[][2] = {
        {"status", "running"},
        {"status", "failed"},
        {"name", "a\\*b*"},
        {"queue", "mail"},
        {"queue", "bulk"},
        {"owner", "key:ci"},
        {"team", "data"},
        {"tag", "env:prod"},
        {"tag", "a:b=c"},
        {"class", "timeout"},
        {"fingerprint", "000000000abc"},
        {"worker", "wrk_0000000000005"},
        {"created_after", "2026-02-01T00:00:00Z"},
        {"finished_before", "2026-02-01T00:00:00Z"},
    };
    CLEANUP(buf_free) struct buf first = BUF(4096);
    CLEANUP(buf_free) struct buf again = BUF(4096);
    struct filter f = {0};
    struct filter read;
    struct err err;
    for (size_t i = 0; i < COUNT_OF(all); i++)
        assert_int_equal(set(&f, FILTER_OF_EXECS, all[i][0], all[i][1]), RC_OK);
    filter_print(&f, FILTER_OF_EXECS, &first);
    assert_int_equal(filter_read(buf_str(&first), FILTER_OF_EXECS, &arena, &read, &err), RC_OK);
    filter_print(&read, FILTER_OF_EXECS, &again);
    assert_true(str_eq(buf_str(&first), buf_str(&again)));
    assert_int_equal(filter_hash(&f, FILTER_OF_EXECS), filter_hash(&read, FILTER_OF_EXECS));
}

/* An operation keeps what was read for as long as it goes on. */
TEST(a_filter_that_is_read_takes_little_more_than_its_text)
{
    CLEANUP(buf_free) struct buf text = BUF(1 << 20);
    struct arena own = {0};
    struct filter read;
    struct err err;
    for (int i = 0; i < FILTER_TAGS_MAX; i++)
        buf_printf(&text, "tag=%03d:%0500d\n", i, 0);
    assert_int_equal(filter_read(buf_str(&text), FILTER_OF_JOBS, &own, &read, &err), RC_OK);
    assert_true(own.used_bytes < 2 * text.len);
    arena_free(&own);
}

TEST(the_same_filter_said_in_another_order_has_the_same_hash)
{
    struct filter a = made(FILTER_OF_JOBS, "queue", "x");
    struct filter b = made(FILTER_OF_JOBS, "queue", "y");
    assert_true(filter_hash(&a, FILTER_OF_JOBS) != filter_hash(&b, FILTER_OF_JOBS));
    assert_int_equal(set(&a, FILTER_OF_JOBS, "queue", "y"), RC_OK);
    assert_int_equal(set(&b, FILTER_OF_JOBS, "queue", "x"), RC_OK);
    assert_int_equal(set(&b, FILTER_OF_JOBS, "queue", "x"), RC_OK);
    assert_int_equal(filter_hash(&a, FILTER_OF_JOBS), filter_hash(&b, FILTER_OF_JOBS));
}

TEST(facts_that_cost_a_read_are_needed_where_the_filter_asks_for_them)
{
    struct filter f = {0};
    assert_true(filter_is_empty(&f));
    assert_int_equal(filter_needs(&f, FILTER_OF_EXECS), 0);
    f = made(FILTER_OF_EXECS, "team", "data");
    assert_int_equal(filter_needs(&f, FILTER_OF_EXECS), FILTER_NEEDS_JOB);
    assert_int_equal(filter_needs(&f, FILTER_OF_JOBS), 0);
    f = made(FILTER_OF_EXECS, "worker", "wrk_0000000000005");
    assert_int_equal(filter_needs(&f, FILTER_OF_EXECS), FILTER_NEEDS_ATTEMPT);
    f = made(FILTER_OF_JOBS, "phase", "running");
    assert_int_equal(filter_needs(&f, FILTER_OF_JOBS), FILTER_NEEDS_PHASE);
    assert_false(filter_is_empty(&f));
}

#include "base/id.h"
#include "base/test/test.h"
#include "job/record/operation.h"
#include "job/record/record.h"

static const struct job_rec job = {
    .id = 10,
    .state = JOB_ACTIVE,
    .queue = STR_INIT("mail"),
    .name = STR_INIT("nightly-report"),
    .owner = STR_INIT("ada"),
    .team = STR_INIT("ops"),
    .tags = STR_INIT("\napp:x\nenv:prod\n"),
    .created_ms = 500,
};
static const struct exec_rec queued = {
    .id = 11, .job_id = 10, .state = EXEC_QUEUED, .queue = STR_INIT("mail"), .created_ms = 600};

static bool takes(enum operation_kind kind, struct filter meant)
{
    const struct operation_rec op = {.id = 100, .kind = kind, .meant = meant};
    return operation_takes(&op, &job, &queued);
}

#define FITS(...) takes(OPERATION_CANCEL_JOBS, (struct filter){__VA_ARGS__})

TEST(every_part_of_a_filter_restricts)
{
    assert_true(FITS(.states = 0));
    assert_true(FITS(.queue = STR("other\nmail")) && !FITS(.queue = STR("other\nmai")));
    assert_true(FITS(.tags = STR("env:prod\napp:x")) && !FITS(.tags = STR("env:prod\napp:y")));
    assert_true(FITS(.name = STR("nightly-report")) && !FITS(.name = STR("nightly")));
    assert_true(FITS(.pattern = STR("nightly*")) && !FITS(.pattern = STR("x*")));
    assert_true(FITS(.owner = STR("ada")) && !FITS(.owner = STR("bob")));
    assert_true(FITS(.team = STR("ops")) && !FITS(.team = STR("dev")));
    assert_true(FITS(.created = {500, 0}) && !FITS(.created = {501, 0}));
    assert_true(FITS(.created = {0, 501}) && !FITS(.created = {0, 500}));
    assert_true(takes(OPERATION_CANCEL_EXECS, (struct filter){.job_id = 10}));
    assert_false(takes(OPERATION_CANCEL_EXECS, (struct filter){.job_id = 9}));
    assert_true(FITS(.states = 1 << JOB_ACTIVE) && !FITS(.states = 1 << JOB_PAUSED));
}

TEST(an_action_takes_only_what_there_is_something_to_do_with)
{
    const struct filter all = {0};
    assert_true(takes(OPERATION_PAUSE_JOBS, all));
    assert_false(takes(OPERATION_RESUME_JOBS, all));
    assert_true(takes(OPERATION_CANCEL_EXECS, all));
    const struct operation_rec before = {.id = 5, .kind = OPERATION_CANCEL_JOBS};
    assert_false(operation_takes(&before, &job, &queued)); /* it came later */
    const struct operation_rec cancel = {.id = 100, .kind = OPERATION_CANCEL_EXECS};
    assert_false(operation_takes_state(&cancel, EXEC_STOPPING));
    assert_false(operation_takes_state(&cancel, EXEC_COMPLETED));
}

TEST(a_job_that_recurs_is_triggered_by_its_slot_ahead_alone)
{
    const struct operation_rec op = {.id = 100, .kind = OPERATION_TRIGGER_JOBS};
    struct exec_rec exec = {.id = 11, .origin = ORIGIN_SLOT, .state = EXEC_SCHEDULED};
    assert_true(operation_takes(&op, &job, &exec));
    exec.state = EXEC_RUNNING;
    assert_false(operation_takes(&op, &job, &exec));
    exec = (struct exec_rec){.id = 11, .origin = ORIGIN_REQUEST, .state = EXEC_QUEUED};
    assert_false(operation_takes(&op, &job, &exec));
    exec = (struct exec_rec){.id = 101, .origin = ORIGIN_SLOT, .state = EXEC_SCHEDULED};
    assert_false(operation_takes(&op, &job, &exec)); /* made since, so it was triggered before */
}

TEST(an_operation_survives_being_a_text)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const struct operation_rec op = {
        .id = 7,
        .parts = 16,
        .kind = OPERATION_RETRY_EXECS,
        .state = OPERATION_RUNNING,
        .which = STR("queue=a\nqueue=b\nowner=k: 3 v\n"),
        .by = STR("key:ada"),
        .counted = true,
        .total = 5,
    };
    struct operation_rec read;
    struct str text = operation_text(&op, &arena);
    assert_true(operation_parse(text, &read));
    assert_true(read.id == 7 && read.parts == 16 && read.kind == op.kind && read.total == 5);
    assert_true(str_eq(read.which, op.which) && str_eq(read.by, op.by) && read.counted);
    for (size_t i = 0; i < text.len; i++) { /* cut anywhere it makes no sense, or less */
        (void)operation_parse(str_head(text, i), &read);
    }
    assert_false(operation_parse(STR("id 1 7"), &read));
    assert_false(operation_parse(STR("colour 1 7\n"), &read));
    assert_false(operation_parse(STR("id 99999999999999999999 7\n"), &read));
    assert_false(operation_parse(STR("kind 1 99\n"), &read));
}

/* ---- filters as text */

static enum rc read(struct operation_rec *op, struct arena *arena)
{
    struct err err;
    enum rc rc = operation_read(op, arena, &err);
    assert_true(rc == RC_OK || err.text[0] != '\0');
    return rc;
}

static enum rc read_text(enum operation_kind kind, const char *which)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct operation_rec op = {.id = 7, .kind = kind, .which = str_c(which)};
    return read(&op, &arena);
}

TEST(a_filter_that_is_lost_or_foreign_is_no_filter_for_everything)
{
    assert_int_equal(read_text(OPERATION_CANCEL_JOBS, "all=true\n"), RC_OK);
    assert_int_equal(read_text(OPERATION_CANCEL_JOBS, "queue=a\n"), RC_OK);
    assert_int_equal(read_text(OPERATION_CANCEL_JOBS, ""), RC_INVALID);
    assert_int_equal(read_text(OPERATION_CANCEL_JOBS, "queue=a\nqueue"), RC_INVALID);
    assert_int_equal(read_text(OPERATION_CANCEL_JOBS, "queue=a"), RC_INVALID);
    assert_int_equal(read_text(OPERATION_CANCEL_JOBS, "colour=red\n"), RC_NOT_FOUND);
    assert_int_equal(read_text(OPERATION_CANCEL_JOBS, "phase=waiting\n"), RC_INVALID);
    assert_int_equal(read_text(OPERATION_CANCEL_JOBS, "\xff=\xfe\n\n\n"), RC_NOT_FOUND);
    assert_int_equal(read_text(OPERATION_RETRY_EXECS, "tag=a:b\n"), RC_INVALID);
}

TEST(what_is_printed_is_read_back)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const struct filter f = {.states = FILTER_STATE(JOB_PAUSED),
                             .queue = STR("a\nb"),
                             .pattern = STR("n*"),
                             .tags = STR("k:v")};
    struct operation_rec op = {.kind = OPERATION_CANCEL_JOBS};
    op.which = operation_filter_text(op.kind, &f, &arena);
    assert_int_equal(read(&op, &arena), RC_OK);
    assert_true(str_eq(operation_filter_text(op.kind, &op.meant, &arena), op.which));
    op.which = operation_filter_text(op.kind, &(struct filter){0}, &arena);
    assert_true(op.which.len > 0);
    assert_int_equal(read(&op, &arena), RC_OK);
    assert_true(operation_filter_is_empty(&op.meant));
}

TEST(operations_of_versions_before_mean_what_they_meant)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct operation_rec op = {
        .id = 100,
        .kind = (enum operation_kind)5, /* cancel jobs */
        .old = {.states = FILTER_STATE(JOB_ACTIVE),
                .queues = STR("other\nmail"),
                .tags = STR("env:prod\napp:x"),
                .name = STR("nightly-*"),
                .owner = STR("ada"),
                .team = STR("ops"),
                .created_after_ms = 500,
                .created_before_ms = 501},
    };
    struct operation_rec other = op;
    other.old.owner = STR("bob");
    assert_int_equal(read(&op, &arena), RC_OK);
    assert_int_equal(op.kind, OPERATION_CANCEL_JOBS);
    assert_true(operation_takes(&op, &job, &queued));
    assert_int_equal(read(&other, &arena), RC_OK);
    assert_false(operation_takes(&other, &job, &queued));
    const struct letter_rec letter = {
        .place = {600, 11}, .job_id = 10, .state = EXEC_FAILED, .class = FAILURE_DISK};
    struct operation_rec retry = {
        .kind = (enum operation_kind)8, .filter = {.class = FAILURE_DISK}, .old = {.job_id = 10}};
    assert_int_equal(read(&retry, &arena), RC_OK);
    assert_int_equal(retry.kind, OPERATION_RETRY_EXECS);
    assert_true(operation_takes_letter(&retry, &letter));
    struct operation_rec all = {.kind = (enum operation_kind)7};
    assert_int_equal(read(&all, &arena), RC_OK);
    assert_true(operation_takes_state(&all, EXEC_RUNNING));
}

TEST(an_operation_of_a_version_before_with_a_state_that_is_none_acts_upon_nothing)
{
    CLEANUP(arena_free) struct arena arena = {0};
    for (unsigned bit = 0; bit < 32; bit++) {
        struct operation_rec jobs = {.kind = (enum operation_kind)5,
                                     .old = {.states = FILTER_STATE(bit)}};
        struct operation_rec execs = {.kind = (enum operation_kind)7,
                                      .old = {.states = FILTER_STATE(bit)}};
        bool of_jobs = bit == JOB_ACTIVE || bit == JOB_PAUSED;
        bool of_execs =
            bit > EXEC_NONE && bit < EXEC_STATES && !exec_is_final((enum exec_state)bit);
        assert_int_equal(read(&jobs, &arena) == RC_OK, of_jobs);
        assert_int_equal(read(&execs, &arena) == RC_OK, of_execs);
    }
}

TEST(letters_that_an_action_takes_are_among_those_that_it_asks_for)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const struct letter_rec letter = {.place = {600, 11},
                                      .job_id = 10,
                                      .state = EXEC_TIMEOUT,
                                      .queue = STR("mail"),
                                      .name = STR("nightly"),
                                      .owner = STR("ada"),
                                      .class = FAILURE_DISK,
                                      .fingerprint = 0xabc};
    static const struct {
        const char *which;
        bool takes;
    } cases[] = {
        {"queue=mail\nqueue=other\n", true},
        {"queue=other\n", false},
        {"name=night*\n", true},
        {"name=nightly\n", true},
        {"owner=bob\n", false},
        {"status=failed\n", false},
        {"status=timeout\nclass=disk_error\nfingerprint=000000000abc\n", true},
        {"finished_after=1970-01-01T00:00:00.600Z\n", true},
        {"finished_before=1970-01-01T00:00:00.600Z\n", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct operation_rec op = {.kind = OPERATION_RETRY_EXECS, .which = str_c(cases[i].which)};
        if (read(&op, &arena) != RC_OK)
            fail_msg("%s", cases[i].which);
        struct letter_filter asked = operation_letters(&op);
        assert_int_equal(operation_takes_letter(&op, &letter), cases[i].takes);
        assert_true(!cases[i].takes || letter_fits(&asked, &letter));
    }
}

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
static const struct exec_rec queued = {.id = 11, .state = EXEC_QUEUED, .created_ms = 600};

static bool takes(enum operation_kind kind, struct action_filter which)
{
    const struct operation_rec op = {.id = 100, .kind = kind, .which = which};
    return operation_takes(&op, &job, &queued);
}

#define FITS(...) takes(OPERATION_CANCEL_JOBS, (struct action_filter){__VA_ARGS__})

TEST(every_part_of_a_filter_restricts)
{
    assert_true(FITS(.job_id = 0));
    assert_true(FITS(.queues = STR("other\nmail")) && !FITS(.queues = STR("other\nmai")));
    assert_true(FITS(.tags = STR("env:prod\napp:x")) && !FITS(.tags = STR("env:prod\napp:y")));
    assert_true(FITS(.name = STR("nightly-report")) && !FITS(.name = STR("nightly")));
    assert_true(FITS(.name = STR("nightly*")) && !FITS(.name = STR("x*")) &&
                FITS(.name = STR("*")));
    assert_true(FITS(.name = STR("*-report")) && FITS(.name = STR("n*t")) &&
                !FITS(.name = STR("n*x")) && !FITS(.name = STR("nightly\\*")));
    assert_true(FITS(.owner = STR("ada")) && !FITS(.owner = STR("bob")));
    assert_true(FITS(.team = STR("ops")) && !FITS(.team = STR("dev")));
    assert_true(FITS(.job_id = 10) && !FITS(.job_id = 9));
    assert_true(FITS(.created_after_ms = 500) && !FITS(.created_after_ms = 501));
    assert_true(FITS(.created_before_ms = 501) && !FITS(.created_before_ms = 500));
    assert_true(FITS(.states = 1 << JOB_ACTIVE) && !FITS(.states = 1 << JOB_PAUSED));
}

TEST(an_action_takes_only_what_there_is_something_to_do_with)
{
    const struct action_filter all = {0};
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
        .which = {.states = 9, .queues = STR("a\nb"), .tags = STR("k: 3 v\nx:y")},
        .by = STR("key:ada"),
        .counted = true,
        .total = 5,
    };
    struct operation_rec read;
    struct str text = operation_text(&op, &arena);
    assert_true(operation_parse(text, &read));
    assert_true(read.id == 7 && read.parts == 16 && read.kind == op.kind && read.total == 5);
    assert_true(str_eq(read.which.tags, op.which.tags) && str_eq(read.by, op.by) && read.counted);
    for (size_t i = 0; i < text.len; i++) { /* cut anywhere it makes no sense, or less */
        (void)operation_parse(str_head(text, i), &read);
    }
    assert_false(operation_parse(STR("id 1 7"), &read));
    assert_false(operation_parse(STR("colour 1 7\n"), &read));
    assert_false(operation_parse(STR("id 99999999999999999999 7\n"), &read));
    assert_false(operation_parse(STR("kind 1 99\n"), &read));
}

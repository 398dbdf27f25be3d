#include "base/test/test.h"
#include "job/record/fields.h"
#include "job/record/record_fields.h"

static const struct field *field_of(const struct fields *fields, const char *column)
{
    for (size_t i = 0; i < fields->len; i++) {
        if (str_eq(str_c(fields->items[i].column), str_c(column)))
            return &fields->items[i];
    }
    fail_msg("there is no column %s", column);
    return NULL;
}

TEST(a_number_is_written_to_its_member_alone)
{
    struct worker_rec worker = {.name = STR("a"), .slots = 7, .registered_ms = 9};
    field_set_number(field_of(&worker_fields, "slots"), &worker, UINT32_MAX);
    field_set_number(field_of(&worker_fields, "draining"), &worker, 1);
    assert_true(worker.slots == UINT32_MAX && worker.draining && !worker.runs_commands);
    assert_true(worker.registered_ms == 9 && worker.name.len == 1);
}

TEST(numbers_of_every_kind_are_read)
{
    struct alert_rec alert = {.id = UINT64_MAX, .at_ms = -5, .kind = ALERT_QUEUE_OLD};
    assert_int_equal(field_number(field_of(&alert_fields, "id"), &alert), INT64_MAX);
    assert_int_equal(field_number(field_of(&alert_fields, "at_ms"), &alert), -5);
    assert_int_equal(field_number(field_of(&alert_fields, "kind"), &alert), ALERT_QUEUE_OLD);
}

TEST(a_copy_has_texts_of_its_own)
{
    CLEANUP(arena_free) struct arena arena = {0};
    char name[] = "mail";
    struct queue_rec queue = {.name = str_of(name, 4), .concurrency = 3};
    fields_copy(&queue_fields, &queue, &arena);
    name[0] = 'x';
    assert_true(str_eq(queue.name, STR("mail")) && queue.concurrency == 3);
}

TEST(a_number_below_zero_keeps_its_sign)
{
    struct attempt_rec attempt = {.usage.exit_code = -1};
    const struct field *exit_code = field_of(&attempt_fields, "exit_code");
    assert_int_equal(field_number(exit_code, &attempt), -1);
    field_set_number(exit_code, &attempt, INT32_MIN);
    assert_int_equal(attempt.usage.exit_code, INT32_MIN);
    assert_int_equal(attempt.usage.signal, 0);
}

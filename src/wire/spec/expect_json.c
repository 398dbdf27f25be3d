#include "wire/spec/expect_json.h"
#include "base/when.h"

void expect_read(const struct fields *f, const struct field_place *at, const struct json *value,
                 void *into)
{
    static const struct field expect_fields[] = {
        {FIELD("every", struct expectation, every_ms), .kind = FIELD_DURATION, .required = true,
         .min = SPEC_EVERY_MIN_MS, .max = DURATION_MAX_MS},
        {FIELD("grace", struct expectation, grace_ms), .kind = FIELD_DURATION,
         .max = DURATION_MAX_MS},
    };
    struct spec *spec = into;
    fields_read(f, at, value, expect_fields, COUNT_OF(expect_fields), &spec->expect);
    spec->work = WORK_PING;
    spec->when = WHEN_PING;
}

/* What describes a job and says where it belongs; all else is about a run that nobody here makes.
 * A priority orders nothing, but every document that is read back has one. */
static bool is_allowed(enum job_field_id id)
{
    switch (id) {
    case JOB_FIELD_name:
    case JOB_FIELD_description:
    case JOB_FIELD_priority:
    case JOB_FIELD_queue:
    case JOB_FIELD_team:
    case JOB_FIELD_tags:
    case JOB_FIELD_expect:
    case JOB_FIELD_idempotency_key: return true;
    default: return false;
    }
}

bool expect_check(const struct fields *f, uint64_t seen)
{
    if (!fields_seen(seen, JOB_FIELD_expect))
        return false;
    for (unsigned i = 0; i < JOB_FIELD_COUNT; i++) {
        if (fields_seen(seen, i) && !is_allowed((enum job_field_id)i))
            field_error(f->errors, f->arena, job_fields[i].key,
                        "must not stand beside expect: such a job is pinged, and not run here");
    }
    return true;
}

void expect_put(struct json_writer *w, const struct expectation *expect)
{
    char text[WHEN_TEXT_MAX];
    if (expect->every_ms == 0)
        return;
    json_key(w, "expect");
    json_open(w);
    json_put_str(w, "every", duration_format(text, expect->every_ms));
    json_put_str(w, "grace", duration_format(text, expect->grace_ms));
    json_close(w);
}

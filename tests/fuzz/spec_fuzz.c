/* A job document that is accepted has a canonical form, which is accepted and is its own. A scan of
 * that form finds the values that a reader finds. */
#include "fuzz.h"
#include "job/spec_scan.h"
#include "wire/spec/spec_json.h"

static void check_scan(struct str text, struct arena *arena)
{
    struct json doc;
    enum rc rc = json_parse(text, arena, &doc, NULL);
    assert(rc == RC_OK);
    for (size_t i = 0; i < JOB_FIELD_COUNT; i++) {
        const struct json *value = json_get(&doc, job_fields[i].key);
        struct str found = spec_scan(text, job_fields[i].key);
        assert(value == NULL ? found.len == 0 : str_eq(found, value->raw));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct json doc;
    struct spec first;
    struct spec second;
    struct field_errors errors = {0};
    struct err err = {0};
    if (json_parse_by(&json_from_user, fuzz_text(data, size), &arena, &doc, &err))
        return 0;
    enum rc rc = spec_parse(&doc, &arena, &first, &errors);
    assert((rc == RC_OK) == (errors.count == 0));
    if (rc) {
        assert(field_errors_text(&errors, &arena).len > 0);
        return 0;
    }
    struct str text = spec_text(&first, &arena);
    rc = spec_read(text, &arena, &second, &err);
    assert(rc == RC_OK);
    assert(str_eq(text, spec_text(&second, &arena)));
    check_scan(text, &arena);
    assert(spec_due_ms(&first, 1000) == spec_due_ms(&second, 1000));
    spec_schedule_text(&first, 1000, &arena);
    return 0;
}

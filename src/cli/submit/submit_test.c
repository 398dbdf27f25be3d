#include "cli/submit/submit.h"

#include "base/test/test.h"

#include <string.h>

static struct cli cli;

static int release(void **state)
{
    (void)state;
    arena_free(&cli.arena);
    return 0;
}

/* No options, and a command. */
static struct submit_args nothing_given(void)
{
    static const char *words[] = {"true"};
    cli.words = (struct opt_words){.items = words, .count = 1};
    return submit_nothing();
}

static const char *document_of(const struct submit_args *args)
{
    struct str document;
    struct err err;
    if (submit_document(&cli, args, &document, &err) != RC_OK)
        fail_msg("%s", err.text);
    return document.ptr;
}

/* What the flag of a plain field makes of the document; NULL: the field has none. */
static const char *give(union submit_value *value, enum job_kind kind)
{
    switch (kind) {
    case JOB_KIND_INT: value->number = 0; return "0";
    case JOB_KIND_BOOL: value->on = true; return "true";
    case JOB_KIND_RAW:
    case JOB_KIND_OWN:
    case JOB_KIND_OWN_MANY: return NULL;
    default: value->text = "x"; return "\"x\"";
    }
}

TEST(without_flags_a_document_has_what_must_be_there)
{
    struct submit_args args = nothing_given();
    assert_string_equal(document_of(&args),
                        "{\"command\":[\"true\"],\"retry\":{\"max_retries\":0}}");
    assert_false(submit_describes(&cli, &args));
}

TEST(the_flag_of_every_plain_field_is_in_the_document)
{
    for (size_t i = 0; i < JOB_FIELD_COUNT; i++) {
        struct submit_args args = nothing_given();
        const char *value = give(&args.fields[i], job_fields[i].kind);
        if (value == NULL || job_fields[i].flag == NULL)
            continue;
        struct str member =
            arena_printf(&cli.arena, "{\"%.*s\":%s,", STR_ARG(job_fields[i].key), value);
        assert_non_null(strstr(document_of(&args), member.ptr));
        assert_true(submit_describes(&cli, &args));
    }
}

TEST(flags_of_other_fields_describe_a_job_as_well)
{
    struct submit_args args = nothing_given();
    args.sla_max = "5m";
    assert_true(submit_describes(&cli, &args));
    args = nothing_given();
    args.retries = 0;
    assert_true(submit_describes(&cli, &args));
    args = nothing_given();
    args.fields[JOB_FIELD_breaker].text = "none";
    assert_true(submit_describes(&cli, &args));
    assert_non_null(strstr(document_of(&args), "\"breaker\":false"));
    args = nothing_given();
    args.fields[JOB_FIELD_unique].text = "k";
    args.unique_keep = "7d";
    assert_true(submit_describes(&cli, &args));
    assert_non_null(strstr(document_of(&args), "\"unique\":{\"key\":\"k\",\"keep\":\"7d\"}"));
}

TEST(what_is_about_the_submission_describes_no_job)
{
    struct submit_args args = nothing_given();
    args.file = "-";
    args.wait = true;
    assert_false(submit_describes(&cli, &args));
}

TEST_GROUP(NULL, release)

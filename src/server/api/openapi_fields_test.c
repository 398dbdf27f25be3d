/* What src/web/openapi.json says about job documents and problems, against the tables of the program. */
#include "base/test/test.h"
#include "job/record/filter.h"
#include "wire/json/json.h"
#include "wire/json/problem.h"

extern const char openapi_json[];
extern const size_t openapi_json_len;

static struct arena arena;
static struct json api;

static int setup(void **state)
{
    (void)state;
    struct err err;
    return json_parse(str_of(openapi_json, openapi_json_len), &arena, &api, &err);
}

static int release(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

/* A part of a document, by the keys that lead to it; a NULL ends them. */
static const struct json *part(const struct json *at, const char *const *keys)
{
    for (; *keys != NULL; keys++) {
        at = json_get(at, str_c(*keys));
        if (at == NULL)
            fail_msg("openapi.json has no '%s' there", *keys);
    }
    return at;
}

#define PART(...) part(&api, (const char *const[]){__VA_ARGS__, NULL})

static const struct json *properties_of(const char *schema)
{
    return PART("components", "schemas", schema, "properties");
}

static void assert_has(const char *schema, bool want, struct str key)
{
    if ((json_get(properties_of(schema), key) != NULL) != want)
        fail_msg("src/web/openapi.json: the schema %s %s the field %.*s of src/job/job_fields.h",
                 schema, want ? "lacks" : "must not have", STR_ARG(key));
}

TEST(the_schema_of_documents_has_every_field_and_no_other)
{
    for (size_t i = 0; i < JOB_FIELD_COUNT; i++)
        assert_has("JobDocument", true, job_fields[i].key);
    assert_int_equal(properties_of("JobDocument")->count, JOB_FIELD_COUNT);
}

TEST(the_schema_of_definitions_has_what_is_kept_with_the_job)
{
    for (size_t i = 0; i < JOB_FIELD_COUNT; i++)
        assert_has("JobDefinition", job_fields[i].kept != JOB_KEPT_APART, job_fields[i].key);
}

/* Parameters are named where they are defined: {"$ref": "#/components/parameters/Queue"}. */
static bool takes(const struct json *parameters, struct str name)
{
    const struct json *defined = PART("components", "parameters");
    for (size_t i = 0; i < parameters->count; i++) {
        const struct json *ref = json_get(&parameters->items[i], STR("$ref"));
        struct str key = ref == NULL ? STR("") : ref->string;
        while (str_index(key, '/') < key.len)
            str_cut(&key, '/');
        const struct json *parameter = ref == NULL ? &parameters->items[i] : json_get(defined, key);
        if (str_eq(json_get(parameter, STR("name"))->string, name))
            return true;
    }
    return false;
}

static void assert_takes(const char *path, struct str name)
{
    if (!takes(PART("paths", path, "get", "parameters"), name))
        fail_msg("src/web/openapi.json: GET %s lacks the parameter %.*s, a filter of "
                 "src/job/job_fields.h or src/job/filter_params.h",
                 path, STR_ARG(name));
}

TEST(lists_take_a_parameter_for_each_filter)
{
    for (size_t i = 0; i < JOB_FIELD_COUNT; i++) {
        if (job_fields[i].filter != JOB_FILTER_NO)
            assert_takes("/api/v1/jobs", job_fields[i].key);
        if (job_fields[i].filter == JOB_FILTER_BOTH)
            assert_takes("/api/v1/executions", job_fields[i].key);
    }
    for (size_t i = 0; i < FILTER_PARAM_COUNT; i++) {
        if (filter_params[i].of & FILTER_OF_JOBS)
            assert_takes("/api/v1/jobs", filter_params[i].name);
        if (filter_params[i].of & FILTER_OF_EXECS)
            assert_takes("/api/v1/executions", filter_params[i].name);
    }
}

static bool lists(const struct json *words, struct str word)
{
    for (size_t i = 0; i < words->count; i++) {
        if (str_eq(words->items[i].string, word))
            return true;
    }
    return false;
}

TEST(the_codes_of_problems_are_those_of_the_table)
{
    const struct json *codes =
        PART("components", "schemas", "Problem", "properties", "code", "enum");
    for (size_t i = 0; i < problem_kind_count; i++) {
        if (!lists(codes, str_c(problem_kinds[i].code)))
            fail_msg("src/web/openapi.json: Problem lacks the code %s", problem_kinds[i].code);
    }
    for (size_t i = 0; i < codes->count; i++) {
        bool known = false;
        for (size_t k = 0; k < problem_kind_count; k++)
            known |= str_eq(codes->items[i].string, str_c(problem_kinds[k].code));
        if (!known)
            fail_msg("src/web/openapi.json: no problem has the code %.*s",
                     STR_ARG(codes->items[i].string));
    }
}

TEST_GROUP(setup, release)

#include "server/config/trace_settings.h"

#include "base/test/test.h"

#include <stdio.h>
#include <string.h>

/* NAME=VALUE, NULL-ended. */
static const char *const *variables;

static const char *variable(const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; variables[i] != NULL; i++) {
        if (strncmp(variables[i], name, len) == 0 && variables[i][len] == '=')
            return variables[i] + len + 1;
    }
    return NULL;
}

static struct arena arena;

static int tear_down(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static enum rc parse(const char *const *env, const char *set, struct server_options *ret_options,
                     struct err *err)
{
    char name[] = "server";
    char flag[] = "--set";
    char value[256] = "";
    char *argv[] = {name, flag, value, NULL};
    bool help;
    variables = env;
    if (set != NULL)
        snprintf(value, sizeof value, "%s", set);
    return server_options_parse(set == NULL ? 1 : 3, argv, variable, &arena, ret_options, &help,
                                err);
}

#define ENV(...) ((const char *const[]){__VA_ARGS__, NULL})

TEST(without_an_address_nothing_is_traced, NULL, tear_down)
{
    struct server_options o;
    struct err err;
    assert_int_equal(parse(ENV("OTEL_SERVICE_NAME=x"), NULL, &o, &err), RC_OK);
    assert_false(o.engine.trace.on);
}

TEST(the_variables_of_opentelemetry_count, NULL, tear_down)
{
    struct server_options o;
    struct trace_settings s;
    struct err err;
    assert_int_equal(
        parse(ENV("OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318/",
                  "OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20k, x-a = b ",
                  "OTEL_SERVICE_NAME=night", "OTEL_TRACES_SAMPLER=parentbased_traceidratio",
                  "OTEL_TRACES_SAMPLER_ARG=0.25"),
              NULL, &o, &err),
        RC_OK);
    assert_true(o.engine.trace.on && o.engine.trace.errors);
    assert_true(o.engine.trace.ratio.below == trace_ratio_of(0.25).below);
    assert_int_equal(trace_settings_read(&o, &arena, &s, &err), RC_OK);
    assert_string_equal(s.url, "http://c:4318/v1/traces");
    assert_true(str_eq(s.service, STR("night")));
    assert_string_equal(s.headers[1], "authorization: Bearer k");
    assert_string_equal(s.headers[2], "x-a: b");
    assert_null(s.headers[3]);
}

TEST(our_own_settings_go_before_them, NULL, tear_down)
{
    struct server_options o;
    struct err err;
    assert_int_equal(parse(ENV("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://other/x",
                               "BELFRY_TRACE_SERVICE_NAME=ours", "OTEL_SERVICE_NAME=theirs"),
                           "trace_endpoint=http://mine/y", &o, &err),
                     RC_OK);
    assert_string_equal(o.trace_endpoint, "http://mine/y");
    assert_string_equal(o.trace_service_name, "ours");
}

TEST(one_of_them_that_makes_no_sense_is_passed_over, NULL, tear_down)
{
    struct server_options o;
    struct err err;
    assert_int_equal(
        parse(ENV("OTEL_EXPORTER_OTLP_ENDPOINT=collector:4317", "OTEL_TRACES_SAMPLER=traceidratio",
                  "OTEL_TRACES_SAMPLER_ARG=lots", "OTEL_EXPORTER_OTLP_HEADERS=no"),
              NULL, &o, &err),
        RC_OK);
    assert_false(o.engine.trace.on);
    assert_string_equal(o.trace_ratio, "1");
    assert_string_equal(o.trace_headers, "");
    assert_int_equal(parse(ENV("OTEL_EXPORTER_OTLP_ENDPOINT=http://c", "OTEL_SDK_DISABLED=true"),
                           NULL, &o, &err),
                     RC_OK);
    assert_false(o.engine.trace.on);
}

TEST(settings_that_make_no_sense_are_refused, NULL, tear_down)
{
    static const char *const wrong[] = {
        "trace_endpoint=ftp://h/x",
        "trace_endpoint=http://user:pass@h/x",
        "trace_ratio=1.5",
        "trace_ratio=-1",
        "trace_ratio=nan",
        "trace_ratio=",
        "trace_service_name=",
        "trace_errors=never",
        "trace_endpoint=http:///user:pass@h/x",
    };
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct server_options o;
        struct err err;
        if (parse(ENV("BELFRY_TRACE_ENDPOINT="), wrong[i], &o, &err) == RC_OK)
            fail_msg("taken: %s", wrong[i]);
        assert_null(strstr(err.text, "pass@"));
    }
}

TEST(a_key_among_the_headers_is_in_no_message, NULL, tear_down)
{
    struct server_options o;
    struct err err;
    assert_int_equal(
        parse(ENV("BELFRY_TRACE_ENDPOINT=http://h/"), "trace_headers=k=sec%ret", &o, &err),
        RC_INVALID);
    assert_null(strstr(err.text, "sec"));
    assert_int_equal(
        parse(ENV("BELFRY_TRACE_ENDPOINT=http://h/"), "trace_headers=k=sec%0d%0aret", &o, &err),
        RC_INVALID);
}

#include "server/call/route_table.h"

#include "base/test/test.h"
#include "job/later.h"

#include <string.h>

#define EACH_ROUTE(it)                                                                             \
    for (const struct route *it = route_table; it < route_table + route_count; it++)

TEST(a_call_that_goes_to_an_owner_has_an_id_in_its_path)
{
    EACH_ROUTE(route)
    {
        struct command_facts facts = route_facts(route);
        if (facts.place != PLACE_OWNER)
            continue;
        assert_int_not_equal(facts.subject, ABOUT_NO_ID);
        assert_non_null(strstr(route->path.ptr, "{}"));
    }
}

/* So names, and parts of ids, are taken there. */
TEST(a_call_about_a_job_or_an_execution_says_so)
{
    static const struct {
        struct str begin;
        enum command_subject subject;
    } things[] = {
        {STR_INIT("/api/v1/jobs/{}"), ABOUT_JOB},
        {STR_INIT("/api/v1/executions/{}"), ABOUT_EXEC},
        {STR_INIT("/api/v1/dead-letters/{}"), ABOUT_LETTER},
    };
    EACH_ROUTE(route)
    {
        for (size_t i = 0; i < COUNT_OF(things); i++) {
            if (str_starts(route->path, things[i].begin) &&
                route_facts(route).subject != things[i].subject)
                fail_msg("%.*s", STR_ARG(route->path));
        }
    }
}

/* No other method's Idempotency-Key is read (server/turn/idempotency.c). */
TEST(a_call_that_takes_an_idempotency_key_is_a_post)
{
    EACH_ROUTE(route)
    {
        if (route_facts(route).takes_key)
            assert_int_equal(route->method, HTTP_METHOD_POST);
    }
}

TEST(a_row_repeats_nothing_of_its_command)
{
    EACH_ROUTE(route)
    {
        if (route->command == 0)
            continue;
        const struct command_facts *facts = command_facts(route->command);
        assert_int_not_equal(route->place, facts->place);
        assert_int_not_equal(route->repeat, facts->repeat);
        assert_true(route->subject == 0 || route->subject != facts->subject);
    }
}

TEST(a_method_and_a_path_have_one_row)
{
    EACH_ROUTE(a)
    {
        EACH_ROUTE(b)
        {
            if (a != b && a->method == b->method && str_eq(a->path, b->path))
                fail_msg("%.*s stands twice", STR_ARG(a->path));
        }
    }
}

TEST(what_is_there_is_not_said_to_be_still_to_come)
{
#define LATER_PATH(path) STR_INIT(path),
    static const struct str later[] = {LATER_PATHS(LATER_PATH)};
    EACH_ROUTE(route)
    {
        for (size_t i = 0; i < COUNT_OF(later); i++) {
            if (str_eq(route->path, later[i]))
                fail_msg("take %.*s out of job/later.h", STR_ARG(later[i]));
        }
    }
}

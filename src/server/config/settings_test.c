#include "server/config/options.h"
#include "server/config/settings.h"

#include "base/test/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct arena arena;
static struct err err;

/* The environment of a test: one variable, or none when the name is NULL. */
static const char *env_name;
static const char *env_value;

static const char *env(const char *name)
{
    return env_name != NULL && strcmp(name, env_name) == 0 ? env_value : NULL;
}

/* A NULL ends the arguments; argv[0] is added here. */
static enum rc try_parse(const char *const *given, struct server_options *ret_options)
{
    char *argv[16];
    int argc = 1;
    bool help;
    argv[0] = arena_zstr(&arena, STR("server"));
    for (; given[argc - 1] != NULL; argc++)
        argv[argc] = arena_zstr(&arena, str_c(given[argc - 1]));
    return server_options_parse(argc, argv, env, &arena, ret_options, &help, &err);
}

/* The options that these arguments give; the test fails when they are refused. */
static struct server_options parse(const char *const *given)
{
    struct server_options options;
    enum rc rc = try_parse(given, &options);
    if (rc != RC_OK)
        fail_msg("%s", err.text);
    return options;
}

#define PARSE(...) parse((const char *const[]){__VA_ARGS__, NULL})

/* The sentence with which these arguments are refused. */
static const char *refusal(const char *const *given)
{
    struct server_options options;
    assert_int_not_equal(try_parse(given, &options), RC_OK);
    return err.text;
}

#define REFUSAL(...) refusal((const char *const[]){__VA_ARGS__, NULL})

TEST(without_anything_the_documented_defaults_hold)
{
    struct server_options o = parse((const char *const[]){NULL});
    assert_string_equal(o.data_dir, "./belfry-data");
    assert_string_equal(o.store_dir, "./belfry-data");
    assert_string_equal(o.listen_host, "127.0.0.1");
    assert_int_equal(o.listen_port, 7420);
    assert_int_equal(o.durability, DURABILITY_FULL);
    assert_int_equal(o.engine.lease_ms, 20000);
    assert_int_equal(o.engine.point_ms, 60000);
    assert_int_equal(o.payload_bytes_max, 1 << 20);
    assert_false(o.no_worker);
}

TEST(sizes_and_times_take_units)
{
    struct server_options o =
        PARSE("--set", "lease_ms=1500", "--set=park_ms=1s500ms", "--set", "payload_bytes_max=2KiB");
    assert_int_equal(o.engine.lease_ms, 1500);
    assert_int_equal(o.engine.park_ms, 1500);
    assert_int_equal(o.payload_bytes_max, 2048);
}

TEST(a_flag_is_stronger_than_the_environment)
{
    env_name = "BELFRY_SLOTS";
    env_value = "3";
    assert_int_equal(PARSE("--no-worker").slots, 3);
    assert_int_equal(PARSE("--slots", "5").slots, 5);
    env_value = "";
    assert_int_equal(PARSE("--no-worker").slots, 8);
    env_value = "many";
    assert_string_equal(REFUSAL("--no-worker"),
                        "BELFRY_SLOTS: slots must be a number from 1 to 10000, not 'many'");
    env_name = NULL;
}

/* Leaves a config file behind, until the process ends. */
static const char *config_file(const char *text)
{
    static char path[] = "/tmp/belfry-settings-XXXXXX";
    static bool made;
    int fd = -1;
    if (!made)
        fd = mkstemp(path);
    made = true;
    FILE *f = fd >= 0 ? fdopen(fd, "w") : fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    return path;
}

TEST(the_environment_is_stronger_than_the_config_file)
{
    const char *path = config_file("{\"slots\": 2, \"no_worker\": true, \"lease_ms\": \"9s\"}");
    struct server_options o = PARSE("--config", path);
    assert_int_equal(o.slots, 2);
    assert_true(o.no_worker);
    assert_int_equal(o.engine.lease_ms, 9000);
    env_name = "BELFRY_LEASE_MS";
    env_value = "30s";
    assert_int_equal(PARSE("--config", path).engine.lease_ms, 30000);
    env_name = NULL;
    unlink(path);
}

static struct str told(const struct server_options *o, const char *name)
{
    return settings_value_text(o, settings_find(str_c(name)), &arena);
}

TEST(each_value_knows_where_it_comes_from)
{
    static const struct {
        const char *name;
        const char *value;
        enum setting_source source;
    } expected[] = {
        {"slots", "5", SOURCE_FLAG},
        {"park_ms", "3s", SOURCE_FLAG},
        {"lease_ms", "30s", SOURCE_ENV},
        {"no_worker", "true", SOURCE_CONFIG},
        {"payload_bytes_max", "1537", SOURCE_CONFIG},
        {"request_bytes_max", "16MiB", SOURCE_DEFAULT},
        {"durability", "normal", SOURCE_CONFIG},
        {"forget_ms", "5m", SOURCE_DEFAULT},
    };
    const char *path = config_file("{\"slots\": 2, \"no_worker\": true, \"lease_ms\": \"9s\","
                                   " \"payload_bytes_max\": 1537, \"durability\": \"normal\"}");
    env_name = "BELFRY_LEASE_MS";
    env_value = "30s";
    struct server_options o = PARSE("--config", path, "--slots", "5", "--set", "park_ms=3s");
    env_name = NULL;
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        const struct setting *s = settings_find(str_c(expected[i].name));
        assert_int_equal(settings_source(&o, s), expected[i].source);
        assert_true(str_eq(told(&o, expected[i].name), str_c(expected[i].value)));
        assert_false(settings_is_adjusted(&o, s));
    }
    assert_string_equal(o.config_file, path);
    unlink(path);
}

TEST(a_value_that_was_made_to_fit_says_so)
{
    const struct setting *s = settings_find(STR("buffered_bytes_max"));
    struct server_options o =
        PARSE("--set", "request_bytes_max=1GiB", "--set", "buffered_bytes_max=64MiB");
    assert_true(settings_is_adjusted(&o, s));
    assert_int_equal(settings_source(&o, s), SOURCE_FLAG);
    assert_true(str_eq(told(&o, "buffered_bytes_max"), STR("1GiB")));
}

TEST(a_secret_is_never_told)
{
    struct server_options o = PARSE("--store", "postgres://u:secret@h/db", "--set",
                                    "alert_webhooks=http://127.0.0.1:1/token");
    assert_true(str_eq(told(&o, "store"), STR("set")));
    assert_true(str_eq(told(&o, "alert_webhooks"), STR("set")));
    o = PARSE("--slots", "1");
    assert_int_equal(told(&o, "store").len, 0);
}

TEST(what_is_told_can_be_set_again)
{
    struct server_options o = PARSE("--set", "log_level=warn");
    for (const struct setting *s = settings_all; s < settings_all + settings_count; s++) {
        struct server_options again = o;
        struct str value = settings_value_text(&o, s, &arena);
        assert_int_equal(settings_set(&again, s, value, SOURCE_FLAG, &arena, &err), RC_OK);
        assert_true(str_eq(settings_value_text(&again, s, &arena), value));
    }
}

TEST(an_unknown_key_of_the_config_file_is_named)
{
    const char *path = config_file("{\"slots\": 3,\n\n\"slotz\": 2}");
    assert_non_null(
        strstr(REFUSAL("--config", path), "line 3: there is no setting called 'slotz'"));
    config_file("{\"slots\": [2]}");
    assert_non_null(strstr(REFUSAL("--config", path), "slots must not be an array"));
    unlink(path);
}

TEST(what_makes_no_sense_is_refused)
{
    assert_string_equal(REFUSAL("--set", "slots"), "--set takes NAME=VALUE, not 'slots'");
    assert_string_equal(REFUSAL("--set", "lease_ms=1ms"),
                        "lease_ms must be a time from 1s to 1h, not '1ms'");
    assert_string_equal(REFUSAL("--set", "priority_age_ms=0"),
                        "priority_age_ms must be a time from 1ms to 365d, not '0'");
    assert_string_equal(REFUSAL("--durability", "some"),
                        "durability must be full|normal, not 'some'");
    assert_string_equal(REFUSAL("extra"), "unexpected argument 'extra'");
    assert_non_null(strstr(REFUSAL("--set", "request_bytes_max=1MiB"), "must be larger"));
    assert_non_null(strstr(REFUSAL("--set", "checkpoint_bytes_max=17MiB"), "must not be smaller"));
}

TEST(there_is_room_for_one_request_of_any_size)
{
    struct server_options o = PARSE("--set", "request_bytes_max=1GiB");
    assert_int_equal(o.buffered_bytes_max, 1 << 30);
    o = PARSE("--set", "request_bytes_max=32MiB");
    assert_int_equal(o.buffered_bytes_max, 256 << 20);
}

TEST(an_address_is_a_host_and_a_port)
{
    struct server_options o = PARSE("--listen", "[::1]:80");
    assert_string_equal(o.listen_host, "::1");
    assert_int_equal(o.listen_port, 80);
    static const char *const bad[] = {"7420", ":7420", "::1:7420", "a:", "a:65536", "[]:1"};
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_non_null(strstr(REFUSAL("--listen", bad[i]), "listen must be HOST:PORT"));
}

TEST(the_store_may_be_elsewhere)
{
    struct server_options o = PARSE("--data", "d", "--store", "sqlite:/var/lib/x");
    assert_string_equal(o.store_dir, "/var/lib/x");
    assert_string_equal(o.data_dir, "d");
    o = PARSE("--store", "postgres://u:secret@h/db");
    assert_string_equal(o.store_url, "postgres://u:secret@h/db");
    assert_null(strstr(REFUSAL("--store", "postgre://u:secret@h/db"), "secret"));
    assert_non_null(strstr(REFUSAL("--store", "mysql:x"), "sqlite:DIR"));
}

#define SHARED "--store", "postgres://u@h/db", "--set"

TEST(servers_that_share_a_store_need_leases_that_outlive_a_takeover)
{
    const char *why = REFUSAL(SHARED, "lease_ms=11s");
    assert_non_null(
        strstr(why, "lease_ms (11000) must be at least 11750")); /* 2.75 + 5 + 1 + 3 s */
    (void)PARSE(SHARED, "lease_ms=12s");
    (void)PARSE(SHARED, "lease_ms=6s", "--set", "node_lease_ms=1s", "--set", "park_ms=1s");
    assert_non_null(strstr(REFUSAL(SHARED, "outage_grace_ms=4999"), "node_lease_ms (5000)"));
    (void)PARSE("--set", "lease_ms=1s", "--set", "outage_grace_ms=0"); /* alone */
}

TEST(the_engine_s_defaults_are_within_the_bounds_of_their_settings)
{
    struct server_options o = parse((const char *const[]){NULL});
    char text[WHEN_TEXT_MAX];
    for (const struct setting *s = settings_all; s < settings_all + settings_count; s++) {
        struct str value = settings_default_text(s, text);
        assert_int_equal(settings_set(&o, s, value, SOURCE_FLAG, &arena, &err), RC_OK);
    }
    assert_int_equal(o.engine.lease_ms, engine_defaults.lease_ms);
    assert_int_equal(o.engine.alerts.slow_pct, engine_defaults.alerts.slow_pct);
    assert_true(o.engine.alerts.sla);
}

TEST(the_help_of_a_flag_tells_the_default_of_its_setting)
{
    char text[WHEN_TEXT_MAX];
    for (size_t i = 0; i < server_opts.count; i++) {
        const struct opt *opt = &server_opts.table[i];
        const struct setting *s = settings_find(str_c(opt->name));
        struct str value = s == NULL ? STR("") : settings_default_text(s, text);
        struct str shown = arena_printf(&arena, "(%.*s)", STR_ARG(value));
        if (value.len > 0 && strstr(opt->help, arena_zstr(&arena, shown)) == NULL)
            fail_msg("--%s does not tell its default %.*s", opt->name, STR_ARG(shown));
    }
}

TEST(a_setting_of_32_bits_leaves_its_neighbour_alone)
{
    struct server_options o = PARSE("--set", "breaker_percent=77");
    assert_int_equal(o.engine.breaker.percent, 77);
    assert_int_equal(o.engine.breaker.calls_min, engine_defaults.breaker.calls_min);
    assert_int_equal(o.engine.breaker.rest_ms, engine_defaults.breaker.rest_ms);
}

TEST(the_engine_hears_of_settings_that_are_not_its_own)
{
    struct server_options o =
        PARSE("--set", "payload_bytes_max=2KiB", "--set", "alert_webhooks=http://127.0.0.1:1/x");
    assert_int_equal(o.engine.payload_bytes_max, 2048);
    assert_int_equal(o.engine.document_bytes_max, o.request_bytes_max);
    assert_true(o.engine.alerts.deliver);
}

static int drop_arena(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

TEST_GROUP(NULL, drop_arena)

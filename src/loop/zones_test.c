#include "job/time/tzif_test.h"
#include "loop/thread.h"
#include "loop/zones.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A directory of our own, with the zone "Test/Town" in it. */
static char dir[] = "/tmp/belfry-zones-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

/* Replaces a file as a package manager does: the new one takes the old one's name. */
static void put_file(const char *name, struct str bytes)
{
    char fresh[256];
    snprintf(fresh, sizeof fresh, "%s/fresh", dir);
    FILE *file = fopen(fresh, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.ptr, 1, bytes.len, file), bytes.len);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(rename(fresh, path_of(name)), 0);
}

static void put_zone(const char *name, int32_t offset_s)
{
    CLEANUP(buf_free) struct buf bytes = BUF(1 << 16);
    tzif_print(&bytes, &(struct tzif){.offsets = &offset_s, .offset_count = 1});
    put_file(name, buf_str(&bytes));
}

static void expect_refusal(struct zones *zones, struct str name)
{
    const struct zone *zone = NULL;
    struct err err = {0};
    assert_int_equal(zones_find(zones, name, &zone, &err), RC_INVALID);
    assert_non_null(strstr(err.text, "time zone"));
    assert_null(zone);
}

TEST(a_zone_is_read_once_and_kept)
{
    struct zones *zones = zones_new(dir);
    const struct zone *first;
    const struct zone *second;
    assert_int_equal(zones_find(zones, STR("Test/Town"), &first, NULL), RC_OK);
    assert_int_equal(zones_find(zones, STR("Test/Town"), &second, NULL), RC_OK);
    assert_ptr_equal(first, second);
    assert_int_equal(zone_span(first, 0).offset_s, 3600);
    zones_free(zones);
}

TEST(a_zone_whose_file_changed_is_read_again)
{
    struct zones *zones = zones_new(dir);
    const struct zone *before;
    const struct zone *after;
    assert_int_equal(zones_find(zones, STR("Test/Town"), &before, NULL), RC_OK);
    put_zone("Test/Town", 7200);
    assert_int_equal(zones_find(zones, STR("Test/Town"), &after, NULL), RC_OK);
    assert_int_equal(zone_span(after, 0).offset_s, 7200);
    assert_int_equal(zone_span(before, 0).offset_s, 3600); /* who holds it may go on */
    put_zone("Test/Town", 3600);
    zones_free(zones);
}

TEST(names_do_not_leave_the_directory)
{
    struct zones *zones = zones_new(path_of("Test"));
    put_zone("secret", 0);
    static const struct str bad[] = {
        STR_INIT(""),           STR_INIT(".."),          STR_INIT("../secret"),
        STR_INIT("./Town"),     STR_INIT("/etc/passwd"), STR_INIT("Town/"),
        STR_INIT("a//b"),       STR_INIT("a/../Town"),   STR_INIT(".hidden"),
        STR_INIT("Town\0x"),    STR_INIT("Town\n"),      STR_INIT("To wn"),
        STR_INIT("T\xc3\xb6wn")};
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        expect_refusal(zones, bad[i]);
    char long_name[ZONE_NAME_BYTES_MAX + 1];
    memset(long_name, 'a', sizeof long_name);
    expect_refusal(zones, str_of(long_name, sizeof long_name));
    zones_free(zones);
}

TEST(unknown_zones_and_directories_are_refused)
{
    struct zones *zones = zones_new(dir);
    expect_refusal(zones, STR("Mars/Base"));
    expect_refusal(zones, STR("Test"));
    expect_refusal(zones, STR("Test/Town/more"));
    zones_free(zones);
}

TEST(a_file_that_is_no_zone_is_told_by_its_path)
{
    struct zones *zones = zones_new(dir);
    const struct zone *zone;
    struct err err = {0};
    put_file("leapseconds", STR("# something else, and long enough to have had a header in it"));
    assert_int_equal(zones_find(zones, STR("leapseconds"), &zone, &err), RC_CORRUPT);
    assert_non_null(strstr(err.text, path_of("leapseconds")));
    zones_free(zones);
}

TEST(without_tzdata_there_is_utc_and_good_advice)
{
    struct zones *zones = zones_new("/nowhere/zoneinfo");
    const struct zone *zone;
    struct err err = {0};
    assert_int_equal(zones_find(zones, STR("UTC"), &zone, &err), RC_OK);
    assert_ptr_equal(zone, zone_utc());
    assert_int_equal(zones_find(zones, STR("Europe/Berlin"), &zone, &err), RC_IO);
    assert_non_null(strstr(err.text, "tzdata"));
    zones_free(zones);
}

TEST(tzdir_says_where_zones_are)
{
    const struct zone *zone;
    assert_int_equal(setenv("TZDIR", dir, 1), 0);
    struct zones *zones = zones_new(NULL);
    assert_int_equal(unsetenv("TZDIR"), 0);
    assert_int_equal(zones_find(zones, STR("Test/Town"), &zone, NULL), RC_OK);
    zones_free(zones);
}

static void ask_often(void *arg)
{
    const struct zone *zone;
    for (int i = 0; i < 2000; i++) {
        if (zones_find(arg, STR("Test/Town"), &zone, NULL) == RC_OK)
            (void)zone_span(zone, i);
    }
}

TEST(threads_may_ask_while_files_change)
{
    struct zones *zones = zones_new(dir);
    struct thread *threads[3];
    struct err err;
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        assert_int_equal(thread_start("zones", ask_often, zones, &threads[i], &err), RC_OK);
    for (int i = 0; i < 50; i++)
        put_zone("Test/Town", 3600 + i);
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        thread_join(threads[i]);
    const struct zone *zone;
    assert_int_equal(zones_find(zones, STR("Test/Town"), &zone, NULL), RC_OK);
    assert_int_equal(zone_span(zone, 0).offset_s, 3649);
    zones_free(zones);
}

static void remove_files(void)
{
    static const char *const names[] = {"Test/Town", "secret", "leapseconds", "Test", ""};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        remove(path_of(names[i]));
}

struct heard {
    const struct zone *old;
    const struct zone *newer;
    size_t times;
};

static void hear(void *arg, const struct zone *old, const struct zone *newer)
{
    struct heard *heard = arg;
    *heard = (struct heard){old, newer, heard->times + 1};
}

TEST(a_changed_file_is_told_of_to_who_has_the_old_zone)
{
    struct zones *zones = zones_new(dir);
    const struct zone *old;
    struct heard heard = {0};
    put_zone("Test/Moving", 3600);
    assert_int_equal(zones_find(zones, STR("Test/Moving"), &old, NULL), RC_OK);
    zones_refresh(zones, hear, &heard);
    assert_int_equal(heard.times, 0);
    put_zone("Test/Moving", 7200);
    for (int i = 0; i < 3; i++)
        zones_refresh(zones, hear, &heard);
    assert_int_equal(heard.times, 2); /* and not for ever */
    assert_ptr_equal(heard.old, old);
    assert_int_equal(zone_span(heard.newer, 0).offset_s, 7200);
    unlink(path_of("Test/Moving"));
    zones_refresh(zones, hear, &heard);
    assert_int_equal(heard.times, 2);
    zones_free(zones);
}

TEST(a_file_that_was_just_looked_at_can_be_trusted)
{
    struct zones *zones = zones_new(dir);
    const struct zone *first;
    const struct zone *second;
    zones_trust_ms(zones, 3600 * 1000);
    put_zone("Test/Moving", 3600);
    assert_int_equal(zones_find(zones, STR("Test/Moving"), &first, NULL), RC_OK);
    put_zone("Test/Moving", 7200);
    assert_int_equal(zones_find(zones, STR("Test/Moving"), &second, NULL), RC_OK);
    assert_ptr_equal(first, second);
    struct heard heard = {0};
    zones_refresh(zones, hear, &heard);
    assert_int_equal(heard.times, 1);
    unlink(path_of("Test/Moving"));
    zones_free(zones);
}

static int begin(void **state)
{
    (void)state;
    if (mkdtemp(dir) == NULL || mkdir(path_of("Test"), 0700) != 0)
        return -1;
    put_zone("Test/Town", 3600);
    return 0;
}

static int end(void **state)
{
    (void)state;
    remove_files();
    return 0;
}

TEST_GROUP(begin, end)

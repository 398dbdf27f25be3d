#include "loop/file.h"

#include "base/test/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct arena arena;
static char dir[] = "/tmp/belfry-file-XXXXXX";

static const char *write_file(const char *name, const char *text)
{
    const char *path = arena_printf(&arena, "%s/%s", dir, name).ptr;
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    return path;
}

TEST(a_file_is_read_whole)
{
    struct str text;
    const char *path = write_file("a", "one\ntwo\n");
    assert_int_equal(file_read(path, 100, &arena, &text, NULL), RC_OK);
    assert_true(str_eq(text, STR("one\ntwo\n")));
    assert_int_equal(file_read(path, 8, &arena, &text, NULL), RC_OK);
}

TEST(a_file_over_the_limit_is_refused)
{
    struct str text;
    struct err err;
    const char *path = write_file("b", "one\ntwo\n");
    assert_int_equal(file_read(path, 7, &arena, &text, &err), RC_TOO_LARGE);
    assert_non_null(strstr(err.text, "/b: more than 7 bytes"));
}

TEST(a_missing_file_is_told_from_an_unreadable_one)
{
    struct str text;
    assert_int_equal(file_read("/nowhere/at/all", 7, &arena, &text, NULL), RC_NOT_FOUND);
    assert_int_equal(file_read(dir, 7, &arena, &text, NULL), RC_IO);
}

TEST(a_key_comes_from_the_first_place_that_has_one)
{
    struct str key;
    const char *path = write_file("mine", " file-key\n");
    write_file("admin.key", "data-key\n");
    setenv("BELFRY_DATA", dir, 1);
    setenv("BELFRY_TOKEN", "env-key", 1);
    assert_int_equal(file_read_key(path, "admin.key", &arena, &key, NULL), RC_OK);
    assert_true(str_eq(key, STR("file-key")));
    assert_int_equal(file_read_key(NULL, "admin.key", &arena, &key, NULL), RC_OK);
    assert_true(str_eq(key, STR("env-key")));
    unsetenv("BELFRY_TOKEN");
    assert_int_equal(file_read_key(NULL, "admin.key", &arena, &key, NULL), RC_OK);
    assert_true(str_eq(key, STR("data-key")));
    assert_int_equal(file_read_key(NULL, "worker.key", &arena, &key, NULL), RC_NOT_FOUND);
}

TEST(an_empty_key_is_no_key)
{
    struct str key;
    assert_int_equal(file_read_key(write_file("empty", "\n"), "", &arena, &key, NULL), RC_INVALID);
}

TEST(a_secret_is_its_owners_alone_and_follows_no_link)
{
    struct str text;
    struct stat file;
    const char *victim = write_file("victim", "as it was");
    const char *path = arena_printf(&arena, "%s/secret", dir).ptr;
    assert_int_equal(symlink(victim, arena_printf(&arena, "%s.new", path).ptr), 0);
    assert_int_equal(symlink(victim, path), 0);
    umask(0);
    assert_int_equal(file_write_secret(dir, "secret", STR("hush"), NULL), RC_OK);
    assert_int_equal(lstat(path, &file), 0);
    assert_int_equal(file.st_mode, S_IFREG | 0600);
    assert_int_equal(file_read(path, 100, &arena, &text, NULL), RC_OK);
    assert_true(str_eq(text, STR("hush\n")));
    assert_int_equal(file_read(victim, 100, &arena, &text, NULL), RC_OK);
    assert_true(str_eq(text, STR("as it was")));
    assert_int_equal(file_write_secret("/nowhere", "secret", STR("hush"), NULL), RC_IO);
}

static int make_dir(void **state)
{
    (void)state;
    return mkdtemp(dir) == NULL;
}

static int drop_dir(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "mine", "admin.key", "empty", "victim", "secret"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        unlink(arena_printf(&arena, "%s/%s", dir, names[i]).ptr);
    arena_free(&arena);
    return rmdir(dir);
}

TEST_GROUP(make_dir, drop_dir)

#include "worker/run/run_spares.h"

#include "base/test/test.h"
#include "worker/spawn/tmpdir.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct shelf {
    char *tmp_dir;
    struct run_spares spares;
    char path[256]; /* of the name asked for last */
};

static int set_up(void **state)
{
    struct shelf *s = calloc(1, sizeof(*s));
    s->tmp_dir = tmpdir_name("/tmp");
    assert_int_equal(tmpdir_make(s->tmp_dir, NULL), RC_OK);
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    struct shelf *s = *state;
    struct err err;
    assert_int_equal(tmpdir_remove(s->tmp_dir, &err), RC_OK);
    free(s->tmp_dir);
    free(s);
    return 0;
}

static const char *path_of(struct shelf *s, const char *name)
{
    snprintf(s->path, sizeof(s->path), "%s/%s", s->tmp_dir, name);
    return s->path;
}

static bool keep(struct shelf *s, const char *name)
{
    return run_spares_keep(&s->spares, s->tmp_dir, path_of(s, name));
}

static bool take(struct shelf *s, const char *name)
{
    return run_spares_take(&s->spares, s->tmp_dir, path_of(s, name));
}

static void make(struct shelf *s, const char *name)
{
    assert_int_equal(mkdir(path_of(s, name), 0700), 0);
}

static bool exists(struct shelf *s, const char *name)
{
    return access(path_of(s, name), F_OK) == 0;
}

TEST(at_first_there_is_none, set_up, tear_down)
{
    assert_false(take(*state, "b"));
    assert_false(exists(*state, "b"));
}

TEST(an_empty_directory_is_used_again_under_another_name, set_up, tear_down)
{
    make(*state, "a");
    assert_true(keep(*state, "a"));
    assert_false(exists(*state, "a"));
    assert_true(take(*state, "b"));
    assert_true(tmpdir_is_new(path_of(*state, "b")));
    assert_false(take(*state, "c"));
}

TEST(one_that_a_command_left_something_in_stays_where_it_is, set_up, tear_down)
{
    make(*state, "a");
    make(*state, "a/.left");
    assert_false(keep(*state, "a"));
    assert_true(exists(*state, "a/.left"));
    assert_false(take(*state, "b"));
}

TEST(one_with_other_permissions_is_not_kept, set_up, tear_down)
{
    make(*state, "a");
    assert_int_equal(chmod(path_of(*state, "a"), 0777), 0);
    assert_false(keep(*state, "a"));
    assert_true(exists(*state, "a"));
}

TEST(what_is_no_directory_is_not_kept, set_up, tear_down)
{
    assert_false(keep(*state, "a"));
    assert_int_equal(symlink("/tmp", path_of(*state, "a")), 0);
    assert_false(keep(*state, "a"));
    assert_false(take(*state, "b"));
}

TEST(one_that_was_cleaned_away_is_passed_over, set_up, tear_down)
{
    make(*state, "a");
    make(*state, "b");
    assert_true(keep(*state, "a"));
    assert_true(keep(*state, "b"));
    assert_int_equal(rmdir(path_of(*state, "spare-2")), 0);
    assert_true(take(*state, "c"));
    assert_false(take(*state, "d"));
}

TEST(a_directory_that_exists_is_not_replaced, set_up, tear_down)
{
    make(*state, "a");
    make(*state, "b");
    assert_true(keep(*state, "a"));
    assert_false(take(*state, "b"));
}

TEST(no_more_are_kept_than_may_be_of_use, set_up, tear_down)
{
    for (int i = 0; i < RUN_SPARES_MAX; i++) {
        make(*state, "a");
        assert_true(keep(*state, "a"));
    }
    make(*state, "a");
    assert_false(keep(*state, "a"));
    assert_true(exists(*state, "a"));
}

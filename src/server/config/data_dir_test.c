#include "server/config/data_dir.h"

#include "base/test/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char path[64];
static struct arena arena;

static int begin(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/belfry-dir-XXXXXX");
    return mkdtemp(path) == NULL;
}

static int end(void **state)
{
    char file[128];
    (void)state;
    snprintf(file, sizeof file, "%s/server.lock", path);
    unlink(file);
    arena_free(&arena);
    return rmdir(path);
}

TEST(a_second_server_is_refused, begin, end)
{
    struct data_dir first;
    struct data_dir second = {.fd = -1};
    struct err err;
    assert_int_equal(data_dir_lock(path, &arena, &first, &err), RC_OK);
    assert_int_equal(first.replaces.len, 0);
    assert_int_equal(data_dir_lock(path, &arena, &second, &err), RC_BUSY);
    data_dir_unlock(&first);
    assert_int_equal(data_dir_lock(path, &arena, &second, &err), RC_OK);
    data_dir_unlock(&second);
}

TEST(the_next_one_knows_who_is_dead, begin, end)
{
    struct data_dir dir;
    struct err err;
    assert_int_equal(data_dir_lock(path, &arena, &dir, &err), RC_OK);
    assert_int_equal(data_dir_sign(&dir, STR("a name/17-4"), &err), RC_OK);
    data_dir_unlock(&dir);
    assert_int_equal(data_dir_lock(path, &arena, &dir, &err), RC_OK);
    assert_true(str_eq(dir.replaces, STR("a name/17-4")));
    dir.boot_id = STR("of another boot"); /* then nobody can say */
    assert_int_equal(data_dir_sign(&dir, STR("b/1"), &err), RC_OK);
    data_dir_unlock(&dir);
    assert_int_equal(data_dir_lock(path, &arena, &dir, &err), RC_OK);
    assert_int_equal(dir.replaces.len, 0);
    data_dir_unlock(&dir);
}

static void copy_lock(const char *to)
{
    char from[128];
    char text[1024];
    snprintf(from, sizeof from, "%s/server.lock", path);
    FILE *in = fopen(from, "r");
    FILE *out = fopen(to, "w");
    assert_true(in != NULL && out != NULL);
    size_t len = fread(text, 1, sizeof text, in);
    assert_true(len > 0 && fwrite(text, 1, len, out) == len);
    fclose(in);
    fclose(out);
}

TEST(a_copied_directory_does_not_say_that_somebody_is_dead, begin, end)
{
    char copied[] = "/tmp/belfry-dir-XXXXXX";
    char file[128];
    struct data_dir alive;
    struct data_dir copy;
    struct err err;
    assert_non_null(mkdtemp(copied));
    snprintf(file, sizeof file, "%s/server.lock", copied);
    assert_int_equal(data_dir_lock(path, &arena, &alive, &err), RC_OK);
    assert_int_equal(data_dir_sign(&alive, STR("a/17-4"), &err), RC_OK);
    copy_lock(file);
    assert_int_equal(data_dir_lock(copied, &arena, &copy, &err), RC_OK);
    assert_int_equal(copy.replaces.len, 0);
    data_dir_unlock(&copy);
    data_dir_unlock(&alive);
    unlink(file);
    assert_int_equal(rmdir(copied), 0);
}

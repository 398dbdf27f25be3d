#include "server/data_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

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

static void a_second_server_is_refused(void **state)
{
    (void)state;
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

static void the_next_one_knows_who_is_dead(void **state)
{
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_second_server_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(the_next_one_knows_who_is_dead, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

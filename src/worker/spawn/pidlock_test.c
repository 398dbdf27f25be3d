#include "worker/spawn/pidlock.h"

#include "base/test/test.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[64];
static char path[128];
static char id_path[128];

static int set_up(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/belfry-test-XXXXXX");
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/lock", dir);
    snprintf(id_path, sizeof id_path, "%s/lock.id", dir);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    unlink(id_path);
    return rmdir(dir);
}

/* One that takes the lock; which worker it knows to be dead. */
static uint64_t take(int *ret_fd)
{
    struct pidlock lock;
    struct err err;
    if (pidlock_take(path, &lock, &err))
        fail_msg("%s", err.text);
    *ret_fd = lock.fd;
    return lock.dead;
}

/* A worker's whole life; who it finds dead. It has no name when it never registers. */
static uint64_t live(uint64_t worker_id, bool clean)
{
    int fd;
    uint64_t dead = take(&fd);
    if (worker_id != 0)
        pidlock_name(path, worker_id);
    if (clean)
        pidlock_mark_clean(fd);
    close(fd);
    return dead;
}

TEST(who_ended_clean_is_known_to_be_dead, set_up, tear_down)
{
    assert_int_equal(live(4711, true), 0);
    assert_int_equal(live(4712, true), 4711);
    assert_int_equal(live(0, true), 4712);
    assert_int_equal(live(0, true), 4712); /* it stays dead */
}

TEST(who_left_something_is_not, set_up, tear_down)
{
    live(4711, false);
    /* The processes of these tests have one id, as in a container that is started again and
     * again. */
    assert_int_equal(live(0, true), 0);
    assert_int_equal(live(0, true), 0);
}

static void write_id(const char *text)
{
    FILE *file = fopen(id_path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

TEST(what_another_boot_or_process_wrote_does_not_count, set_up, tear_down)
{
    char text[200];
    live(4711, true);
    snprintf(text, sizeof text, "wrk_00000000004k7 another-boot %d\n", (int)getpid());
    write_id(text);
    assert_int_equal(live(4711, true), 0);
    write_id("nonsense");
    assert_int_equal(live(4711, true), 0);
    write_id("");
    assert_int_equal(live(4711, true), 0);
    assert_int_equal(live(4711, true), 4711);
}

TEST(only_one_holds_it, set_up, tear_down)
{
    int fd;
    struct pidlock other;
    struct err err;
    take(&fd);
    assert_int_equal(pidlock_take(path, &other, &err), RC_CONFLICT);
    close(fd);
}

#include "base/test/test.h"
#include "loop/disk.h"

#include <errno.h>
#include <semaphore.h>
#include <string.h>
#include <sys/statvfs.h>

enum { FOR_EVER_MS = 60000, MOMENT_MS = 1 };

static sem_t mended;

/* A file system that answers when the test says so. */
static int hang(const char *dir, struct statvfs *ret_answer)
{
    (void)dir;
    while (sem_wait(&mended) != 0)
        continue;
    *ret_answer = (struct statvfs){.f_frsize = 1, .f_blocks = 2, .f_bavail = 1};
    return 0;
}

static enum rc look(disk_ask *ask, int64_t wait_ms, struct disk_room *ret_room)
{
    struct err err;
    return disk_look_by(ask, "/", wait_ms, ret_room, &err);
}

TEST(a_disk_says_how_much_room_it_has)
{
    struct disk_room room;
    struct err err;
    assert_int_equal(disk_look("/", &room, &err), RC_OK);
    assert_true(room.all_bytes > 0 && room.free_bytes <= room.all_bytes);
}

TEST(a_directory_that_is_not_there_has_no_room)
{
    struct disk_room room;
    struct err err;
    assert_int_equal(disk_look("/nowhere/at/all", &room, &err), RC_IO);
    assert_non_null(strstr(err.text, "/nowhere/at/all"));
}

TEST(a_disk_that_hangs_is_given_up_and_asked_again_when_it_is_mended)
{
    struct disk_room room;
    sem_init(&mended, 0, 0);
    for (int i = 0; i < DISK_QUESTIONS_MAX; i++)
        assert_int_equal(look(hang, MOMENT_MS, &room), RC_TIMEOUT);
    assert_int_equal(look(statvfs, FOR_EVER_MS, &room), RC_TIMEOUT); /* too many hang: at once */
    for (int i = 0; i < DISK_QUESTIONS_MAX; i++)
        sem_post(&mended);
    while (look(statvfs, FOR_EVER_MS, &room) != RC_OK)
        continue; /* until the threads have noticed */
    sem_post(&mended);
    assert_int_equal(look(hang, FOR_EVER_MS, &room), RC_OK);
    assert_int_equal(room.all_bytes, 2);
}

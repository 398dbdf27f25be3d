/* disk.h - how much room there is on a disk that may hang.
 *
 * Asking a file system for its numbers takes a microsecond, or for ever: a network file system
 * whose server is gone holds whoever asks. So the question is put by a thread of its own, and given
 * up after a while; what has to answer metrics and diagnostics goes on. While several questions
 * hang, no other is put. From any thread. */
#pragma once
#include "base/err.h"

#include <stdint.h>

struct disk_room {
    uint64_t free_bytes; /* for us */
    uint64_t all_bytes;
    uint64_t files_free; /* that can still be made, … */
    uint64_t files_all;  /* … of so many; 0: it does not say */
};

enum { DISK_WAIT_MS = 2000, DISK_QUESTIONS_MAX = 4 };

/* RC_TIMEOUT: it hangs. RC_IO: there is no such directory, or it cannot be asked. */
enum rc disk_look(const char *dir, struct disk_room *ret_room, struct err *err);

/* The same, of something that answers as statvfs does, waited for so long. For tests. */
struct statvfs;
typedef int disk_ask(const char *dir, struct statvfs *ret_answer);
enum rc disk_look_by(disk_ask *ask, const char *dir, int64_t wait_ms, struct disk_room *ret_room,
                     struct err *err);

/* vfs.h - SQLite's way to the file system, with a count of what reaches the disk.
 *
 * SQLite does not say how often it syncs, and that is what durable work costs. So the writer's
 * files are opened through the VFS that would have been used anyway, except that its `xSync` passes
 * here, and what is written to the log goes through a buffer (`log_buffer.h`). Nothing else is
 * changed: locks and shared memory stay those of the real one, so that connections with and without
 * all this share a file. */
#pragma once
#include "store/sqlite/log_buffer.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdint.h>

enum { VFS_KINDS_MAX = 4 }; /* unix has two: the database has locks, its log needs none */

struct vfs;

/* One kind of file of the real VFS. */
struct vfs_kind {
    sqlite3_io_methods counted; /* the real ones, but for xSync, */
    const sqlite3_io_methods *real;
    bool is_log; /* and for a log whatever reads, writes or ends it */
    struct vfs *vfs;
};

struct vfs {
    sqlite3_vfs own;   /* registered under a name of its own */
    sqlite3_vfs *real; /* SQLite's default when we began */
    struct vfs_kind kinds[VFS_KINDS_MAX];
    char name[32];
    atomic_uint_least64_t syncs;
    atomic_uint_least64_t sync_us; /* spent waiting for them */
};

/* Of a file that was opened through one of us. */
const struct vfs_kind *vfs_kind_of(const sqlite3_file *file);

/* Its address is its name: it must not move until vfs_end. */
void vfs_begin(struct vfs *vfs);
/* After the last file was closed. A zeroed one is fine. */
void vfs_end(struct vfs *vfs);

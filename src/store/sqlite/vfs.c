#include "store/sqlite/vfs.h"
#include "base/list.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t mono_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static size_t room_of_real(const sqlite3_vfs *real)
{
    size_t align = alignof(struct log_buffer);
    return ((size_t)real->szOsFile + align - 1) / align * align;
}

const struct vfs_kind *vfs_kind_of(const sqlite3_file *file)
{
    const char *counted = (const char *)file->pMethods;
    return (const void *)(counted - offsetof(struct vfs_kind, counted));
}

/* Behind the real file, in the same room. */
static struct log_buffer *buffer_of(sqlite3_file *file)
{
    return (void *)((char *)file + room_of_real(vfs_kind_of(file)->vfs->real));
}

static int count_sync(sqlite3_file *file, int flags)
{
    const struct vfs_kind *kind = vfs_kind_of(file);
    uint64_t begun_us = mono_us();
    int code = kind->real->xSync(file, flags);
    atomic_fetch_add(&kind->vfs->sync_us, mono_us() - begun_us);
    atomic_fetch_add(&kind->vfs->syncs, 1);
    return code;
}

/* ---- a log */

static int log_write(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 at)
{
    return log_buffer_write(buffer_of(file), file, bytes, len, at);
}

static int log_read(sqlite3_file *file, void *bytes, int len, sqlite3_int64 at)
{
    int code = log_buffer_flush(buffer_of(file), file);
    return code != SQLITE_OK ? code : vfs_kind_of(file)->real->xRead(file, bytes, len, at);
}

static int log_sync(sqlite3_file *file, int flags)
{
    int code = log_buffer_flush(buffer_of(file), file);
    return code != SQLITE_OK ? code : count_sync(file, flags);
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 bytes)
{
    int code = log_buffer_flush(buffer_of(file), file);
    return code != SQLITE_OK ? code : vfs_kind_of(file)->real->xTruncate(file, bytes);
}

static int log_size(sqlite3_file *file, sqlite3_int64 *ret_bytes)
{
    int code = log_buffer_flush(buffer_of(file), file);
    return code != SQLITE_OK ? code : vfs_kind_of(file)->real->xFileSize(file, ret_bytes);
}

/* Bytes that are still held back belong to no transaction that was kept. */
static int log_close(sqlite3_file *file)
{
    log_buffer_free(buffer_of(file));
    return vfs_kind_of(file)->real->xClose(file);
}

static void pass_by_buffer(sqlite3_io_methods *methods)
{
    methods->xWrite = log_write;
    methods->xRead = log_read;
    methods->xSync = log_sync;
    methods->xTruncate = log_truncate;
    methods->xFileSize = log_size;
    methods->xClose = log_close;
}

/* ---- opening */

/* The place of the file's kind among those known, which may be a new one. Only the writer's
 * connection asks, so one at a time. */
static struct vfs_kind *kind_find(struct vfs *vfs, const sqlite3_io_methods *real, bool is_log)
{
    for (size_t i = 0; i < VFS_KINDS_MAX; i++) {
        struct vfs_kind *kind = &vfs->kinds[i];
        if (kind->real == NULL) {
            *kind = (struct vfs_kind){.counted = *real, .real = real, .is_log = is_log, .vfs = vfs};
            kind->counted.xSync = count_sync;
            if (is_log)
                pass_by_buffer(&kind->counted);
        }
        if (kind->real == real && kind->is_log == is_log)
            return kind;
    }
    return NULL; /* goes uncounted, and without a buffer */
}

/* The real VFS makes the file in the room that we were given, so it stays the real one's file, and
 * only its table of methods is exchanged. */
static int open_counted(sqlite3_vfs *own, const char *path, sqlite3_file *file, int flags,
                        int *ret_flags)
{
    struct vfs *vfs = CONTAINER_OF(own, struct vfs, own);
    int code = vfs->real->xOpen(vfs->real, path, file, flags, ret_flags);
    if (code == SQLITE_OK && file->pMethods != NULL) {
        struct vfs_kind *kind = kind_find(vfs, file->pMethods, (flags & SQLITE_OPEN_WAL) != 0);
        if (kind == NULL)
            return code;
        file->pMethods = &kind->counted;
        *buffer_of(file) = (struct log_buffer){.real = kind->real};
    }
    return code;
}

/* A VFS may know more about itself than we copied, so whatever names a file is passed on to it. */
static int pass_delete(sqlite3_vfs *own, const char *path, int sync_dir)
{
    sqlite3_vfs *real = CONTAINER_OF(own, struct vfs, own)->real;
    return real->xDelete(real, path, sync_dir);
}

static int pass_access(sqlite3_vfs *own, const char *path, int flags, int *ret_result)
{
    sqlite3_vfs *real = CONTAINER_OF(own, struct vfs, own)->real;
    return real->xAccess(real, path, flags, ret_result);
}

static int pass_full_path(sqlite3_vfs *own, const char *path, int bytes, char *ret_path)
{
    sqlite3_vfs *real = CONTAINER_OF(own, struct vfs, own)->real;
    return real->xFullPathname(real, path, bytes, ret_path);
}

void vfs_begin(struct vfs *vfs)
{
    *vfs = (struct vfs){.real = sqlite3_vfs_find(NULL)};
    snprintf(vfs->name, sizeof vfs->name, "belfry-%p", (void *)vfs);
    vfs->own = *vfs->real;
    vfs->own.pNext = NULL;
    vfs->own.zName = vfs->name;
    vfs->own.szOsFile = (int)(room_of_real(vfs->real) + sizeof(struct log_buffer));
    vfs->own.xOpen = open_counted;
    vfs->own.xDelete = pass_delete;
    vfs->own.xAccess = pass_access;
    vfs->own.xFullPathname = pass_full_path;
    if (sqlite3_vfs_register(&vfs->own, 0) != SQLITE_OK)
        abort(); /* out of memory */
}

void vfs_end(struct vfs *vfs)
{
    if (vfs->real != NULL)
        sqlite3_vfs_unregister(&vfs->own);
}

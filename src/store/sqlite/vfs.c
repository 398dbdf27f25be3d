#include "store/sqlite/vfs.h"
#include "base/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t mono_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static const struct vfs_kind *kind_of(const sqlite3_file *file)
{
    const char *counted = (const char *)file->pMethods;
    return (const void *)(counted - offsetof(struct vfs_kind, counted));
}

static int count_sync(sqlite3_file *file, int flags)
{
    const struct vfs_kind *kind = kind_of(file);
    uint64_t begun_us = mono_us();
    int code = kind->real->xSync(file, flags);
    atomic_fetch_add(&kind->vfs->sync_us, mono_us() - begun_us);
    atomic_fetch_add(&kind->vfs->syncs, 1);
    return code;
}

/* The place of the file's kind among those known, which may be a new one. Only the writer's
 * connection asks, so one at a time. */
static struct vfs_kind *kind_find(struct vfs *vfs, const sqlite3_io_methods *real)
{
    for (size_t i = 0; i < VFS_KINDS_MAX; i++) {
        struct vfs_kind *kind = &vfs->kinds[i];
        if (kind->real == NULL) {
            *kind = (struct vfs_kind){.counted = *real, .real = real, .vfs = vfs};
            kind->counted.xSync = count_sync;
        }
        if (kind->real == real)
            return kind;
    }
    return NULL; /* goes uncounted */
}

/* The real VFS makes the file in the room that we were given, so it stays the real one's file, and
 * only its table of methods is exchanged. */
static int open_counted(sqlite3_vfs *own, const char *path, sqlite3_file *file, int flags,
                        int *ret_flags)
{
    struct vfs *vfs = CONTAINER_OF(own, struct vfs, own);
    int code = vfs->real->xOpen(vfs->real, path, file, flags, ret_flags);
    if (code == SQLITE_OK && file->pMethods != NULL) {
        struct vfs_kind *kind = kind_find(vfs, file->pMethods);
        if (kind != NULL)
            file->pMethods = &kind->counted;
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

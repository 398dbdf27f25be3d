#include "vfs.h"

#include "base/mem.h"

#include <assert.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REGIONS_MAX = 64 }; /* of 32 KiB; each indexes 4096 frames of a log */

static struct disk *mounted;
static struct rng dice;

/* What the connections to one file share: its locks and its shared memory. */
struct shared {
    int readers;                                       /* SHARED and above */
    const struct handle *reserved;                     /* RESERVED and above; NULL: nobody */
    const struct handle *exclusive;                    /* PENDING and above */
    int shm_readers[SQLITE_SHM_NLOCK];                 /* connections that share this lock … */
    const struct handle *shm_writer[SQLITE_SHM_NLOCK]; /* … or the one that has it alone */
    void *regions[REGIONS_MAX];
    int region_bytes;
    int shm_users;
};

struct handle {
    sqlite3_file base;
    struct disk_file *file;
    char *name;       /* owned */
    bool syncs_names; /* with its next sync */
    bool deletes;     /* when it is closed */
    int level;
    bool uses_shm;
    unsigned shm_shared; /* bits of the locks it shares … */
    unsigned shm_alone;  /* … and of those it has alone */
};

static struct handle *handle_of(sqlite3_file *file)
{
    return (struct handle *)(void *)file;
}

static struct shared *shared_of(struct handle *h)
{
    void **note = disk_note(h->file);
    if (*note == NULL)
        *note = MEM_NEW(struct shared);
    return *note;
}

/* ---- bytes */

static int vfs_read(sqlite3_file *file, void *to, int bytes, sqlite3_int64 at)
{
    size_t got;
    if (disk_read(mounted, handle_of(file)->file, (uint64_t)at, to, (size_t)bytes, &got) != RC_OK)
        return SQLITE_IOERR_READ;
    if (got == (size_t)bytes)
        return SQLITE_OK;
    memset((char *)to + got, 0, (size_t)bytes - got);
    return SQLITE_IOERR_SHORT_READ;
}

static int vfs_write(sqlite3_file *file, const void *from, int bytes, sqlite3_int64 at)
{
    struct disk_file *f = handle_of(file)->file;
    enum rc rc = disk_write(mounted, f, (uint64_t)at, from, (size_t)bytes);
    return rc == RC_OK ? SQLITE_OK : SQLITE_IOERR_WRITE;
}

static int vfs_truncate(sqlite3_file *file, sqlite3_int64 bytes)
{
    enum rc rc = disk_truncate(mounted, handle_of(file)->file, (uint64_t)bytes);
    return rc == RC_OK ? SQLITE_OK : SQLITE_IOERR_TRUNCATE;
}

static int vfs_sync(sqlite3_file *file, int flags)
{
    struct handle *h = handle_of(file);
    (void)flags;
    if (disk_sync(mounted, h->file) != RC_OK)
        return SQLITE_IOERR_FSYNC;
    if (h->syncs_names && disk_sync_names(mounted) != RC_OK)
        return SQLITE_IOERR_DIR_FSYNC;
    h->syncs_names = false;
    return SQLITE_OK;
}

static int vfs_size(sqlite3_file *file, sqlite3_int64 *ret_bytes)
{
    *ret_bytes = (sqlite3_int64)disk_size(handle_of(file)->file);
    return SQLITE_OK;
}

/* ---- locks of the file */

static int vfs_lock(sqlite3_file *file, int level)
{
    struct handle *h = handle_of(file);
    struct shared *s = shared_of(h);
    if (level <= h->level)
        return SQLITE_OK;
    if (level == SQLITE_LOCK_SHARED) {
        if (s->exclusive != NULL)
            return SQLITE_BUSY;
        s->readers++;
    }
    if (level >= SQLITE_LOCK_RESERVED) {
        if (s->reserved != NULL && s->reserved != h)
            return SQLITE_BUSY;
        s->reserved = h;
    }
    if (level >= SQLITE_LOCK_PENDING) {
        s->exclusive = h;
        h->level = SQLITE_LOCK_PENDING;
        if (s->readers > 1)
            return SQLITE_BUSY;
    }
    h->level = level;
    return SQLITE_OK;
}

static int vfs_unlock(sqlite3_file *file, int level)
{
    struct handle *h = handle_of(file);
    struct shared *s = shared_of(h);
    if (level >= h->level)
        return SQLITE_OK;
    if (s->exclusive == h)
        s->exclusive = NULL;
    if (s->reserved == h)
        s->reserved = NULL;
    if (level == SQLITE_LOCK_NONE)
        s->readers--;
    h->level = level;
    return SQLITE_OK;
}

static int vfs_is_reserved(sqlite3_file *file, int *ret_reserved)
{
    *ret_reserved = shared_of(handle_of(file))->reserved != NULL;
    return SQLITE_OK;
}

/* ---- shared memory of the write-ahead log: lost with the power, as it should be */

static int vfs_shm_map(sqlite3_file *file, int at, int bytes, int extend,
                       void volatile **ret_region)
{
    struct handle *h = handle_of(file);
    struct shared *s = shared_of(h);
    assert(at < REGIONS_MAX);
    if (disk_is_dead(mounted))
        return SQLITE_IOERR_SHMMAP;
    s->shm_users += !h->uses_shm;
    h->uses_shm = true;
    if (s->regions[at] == NULL && extend)
        s->regions[at] = mem_new((size_t)bytes);
    *ret_region = s->regions[at];
    return SQLITE_OK;
}

static bool shm_is_free(const struct shared *s, const struct handle *h, int lock, bool alone)
{
    unsigned bit = 1U << lock;
    if (s->shm_writer[lock] != NULL && s->shm_writer[lock] != h)
        return false;
    return !alone || s->shm_readers[lock] == ((h->shm_shared & bit) != 0);
}

static void shm_take(struct shared *s, struct handle *h, int lock, bool alone)
{
    unsigned bit = 1U << lock;
    if (alone) {
        s->shm_writer[lock] = h;
        h->shm_alone |= bit;
    } else if ((h->shm_shared & bit) == 0) {
        s->shm_readers[lock]++;
        h->shm_shared |= bit;
    }
}

static void shm_give(struct shared *s, struct handle *h, int lock)
{
    unsigned bit = 1U << lock;
    if (h->shm_alone & bit)
        s->shm_writer[lock] = NULL;
    if (h->shm_shared & bit)
        s->shm_readers[lock]--;
    h->shm_alone &= ~bit;
    h->shm_shared &= ~bit;
}

static int vfs_shm_lock(sqlite3_file *file, int first, int count, int flags)
{
    struct handle *h = handle_of(file);
    struct shared *s = shared_of(h);
    bool alone = flags & SQLITE_SHM_EXCLUSIVE;
    for (int i = first; i < first + count; i++) {
        if ((flags & SQLITE_SHM_LOCK) && !shm_is_free(s, h, i, alone))
            return SQLITE_BUSY;
    }
    for (int i = first; i < first + count; i++) {
        if (flags & SQLITE_SHM_LOCK)
            shm_take(s, h, i, alone);
        else
            shm_give(s, h, i);
    }
    return SQLITE_OK;
}

static void vfs_shm_barrier(sqlite3_file *file)
{
    (void)file;
}

static void free_regions(struct shared *s)
{
    for (int i = 0; i < REGIONS_MAX; i++) {
        free(s->regions[i]);
        s->regions[i] = NULL;
    }
}

/* The last one out takes the memory along, whatever SQLite thinks of it: nobody could find it. */
static int vfs_shm_unmap(sqlite3_file *file, int delete)
{
    struct handle *h = handle_of(file);
    struct shared *s = shared_of(h);
    (void)delete;
    for (int i = 0; i < SQLITE_SHM_NLOCK; i++)
        shm_give(s, h, i);
    s->shm_users -= h->uses_shm;
    h->uses_shm = false;
    if (s->shm_users == 0)
        free_regions(s);
    return SQLITE_OK;
}

/* ---- the file as SQLite sees it */

static int vfs_control(sqlite3_file *file, int op, void *arg)
{
    (void)file;
    (void)op;
    (void)arg;
    return SQLITE_NOTFOUND;
}

/* As SQLite's own files on Linux say it. Writes are torn at a much smaller size than that. */
static int vfs_sector_bytes(sqlite3_file *file)
{
    (void)file;
    return 4096;
}

static int vfs_characteristics(sqlite3_file *file)
{
    (void)file;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int vfs_close(sqlite3_file *file)
{
    struct handle *h = handle_of(file);
    vfs_shm_unmap(file, 0);
    vfs_unlock(file, SQLITE_LOCK_NONE);
    if (h->deletes)
        (void)disk_delete(mounted, str_c(h->name));
    free(h->name);
    return SQLITE_OK;
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = vfs_close,
    .xRead = vfs_read,
    .xWrite = vfs_write,
    .xTruncate = vfs_truncate,
    .xSync = vfs_sync,
    .xFileSize = vfs_size,
    .xLock = vfs_lock,
    .xUnlock = vfs_unlock,
    .xCheckReservedLock = vfs_is_reserved,
    .xFileControl = vfs_control,
    .xSectorSize = vfs_sector_bytes,
    .xDeviceCharacteristics = vfs_characteristics,
    .xShmMap = vfs_shm_map,
    .xShmLock = vfs_shm_lock,
    .xShmBarrier = vfs_shm_barrier,
    .xShmUnmap = vfs_shm_unmap,
};

/* ---- the file system */

/* The store makes its files before SQLite opens them, so one that is missing here is made even
 * where SQLite does not ask for it. */
static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                    int *ret_flags)
{
    static const int synced = SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL;
    static unsigned temporary;
    struct handle *h = handle_of(file);
    char own[32];
    bool is_new;
    (void)vfs;
    *h = (struct handle){.deletes = flags & SQLITE_OPEN_DELETEONCLOSE};
    if (name == NULL) {
        snprintf(own, sizeof own, "temporary-%u", temporary++);
        name = own;
    }
    if (disk_open(mounted, str_c(name), &h->file, &is_new) != RC_OK)
        return SQLITE_CANTOPEN;
    h->name = mem_dup(name, strlen(name));
    h->syncs_names = is_new && (flags & synced);
    h->base.pMethods = &methods;
    if (ret_flags != NULL)
        *ret_flags = flags;
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    (void)vfs;
    switch (disk_delete(mounted, str_c(name))) {
    case RC_OK: break;
    case RC_NOT_FOUND: return SQLITE_IOERR_DELETE_NOENT;
    default: return SQLITE_IOERR_DELETE;
    }
    return sync && disk_sync_names(mounted) != RC_OK ? SQLITE_IOERR_DIR_FSYNC : SQLITE_OK;
}

/* As on Unix: to SQLite an empty file is as good as none. */
static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *ret_yes)
{
    (void)vfs;
    (void)flags;
    if (disk_is_dead(mounted))
        return SQLITE_IOERR_ACCESS;
    *ret_yes = disk_size_of(mounted, str_c(name)) > 0;
    return SQLITE_OK;
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *name, int max, char *ret_path)
{
    (void)vfs;
    int len = snprintf(ret_path, (size_t)max, "%s", name);
    return len < max ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int vfs_randomness(sqlite3_vfs *vfs, int bytes, char *ret_bytes)
{
    (void)vfs;
    for (int i = 0; i < bytes; i++)
        ret_bytes[i] = (char)rng_next(&dice);
    return bytes;
}

static int vfs_sleep(sqlite3_vfs *vfs, int us)
{
    (void)vfs;
    return us; /* one thread: nobody can give way meanwhile */
}

static int vfs_time(sqlite3_vfs *vfs, double *ret_days)
{
    (void)vfs;
    *ret_days = 2460000.5;
    return SQLITE_OK;
}

static int vfs_last_error(sqlite3_vfs *vfs, int max, char *ret_text)
{
    (void)vfs;
    (void)max;
    (void)ret_text;
    return 0;
}

static sqlite3_vfs forgetful = {
    .iVersion = 1,
    .szOsFile = sizeof(struct handle),
    .mxPathname = 1024,
    .zName = "forgetful",
    .xOpen = vfs_open,
    .xDelete = vfs_delete,
    .xAccess = vfs_access,
    .xFullPathname = vfs_full_path,
    .xRandomness = vfs_randomness,
    .xSleep = vfs_sleep,
    .xCurrentTime = vfs_time,
    .xGetLastError = vfs_last_error,
};

void vfs_mount(struct disk *disk, uint64_t seed)
{
    mounted = disk;
    dice = (struct rng){.state = seed};
    int code = sqlite3_vfs_register(&forgetful, 1);
    assert(code == SQLITE_OK);
    sqlite3_randomness(0, NULL); /* what it had gathered is forgotten: it asks again */
}

void vfs_unmount(void)
{
    sqlite3_vfs_unregister(&forgetful);
    mounted = NULL;
}

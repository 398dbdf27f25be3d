/* disk.h - a disk in memory that forgets what was not synced.
 *
 * Every file has the bytes a running program sees and the bytes that a power cut leaves; in between
 * stand the writes that no sync has covered yet. The same goes for names: a file that was made or
 * deleted is so for good only when its directory was synced. Each change and each sync is an
 * operation, operations are counted, and the power fails in the middle of the one that was chosen;
 * from then on every call fails. `disk_reboot` shows what a machine would find: what was synced,
 * and of the rest whatever the dice leave, sector by sector.
 *
 * The dice know what real disks do, and no more: a sector holds one of the contents that it had
 * since its last sync (the cache of the system may have written it at any time), sectors and files
 * do so independently, a file may have grown before its bytes arrived (they are zeros then), and
 * a file that was deleted may be back. */
#pragma once
#include "base/err.h"
#include "base/rng.h"
#include "base/str.h"

struct disk;
struct disk_file;

enum { DISK_SECTOR_BYTES = 512 };

struct disk *disk_new(void);
void disk_free(struct disk *d);

/* The power fails in the operation with this number, counted from 1 since disk_new; 0: never. */
void disk_cut_at(struct disk *d, uint64_t op);
uint64_t disk_ops(const struct disk *d);
void disk_cut(struct disk *d); /* now */
bool disk_is_dead(const struct disk *d);
/* From now on a sync says that it was done, and does nothing. */
void disk_make_liar(struct disk *d);

/* Power again. Whoever had a file open before must not use it any more. */
void disk_reboot(struct disk *d, struct rng *rng);

/* ---- files; RC_IO when the power is gone */

/* -1: there is no file of that name. */
int64_t disk_size_of(const struct disk *d, struct str name);
/* The file of that name, made when it is missing; *ret_is_new says so. */
enum rc disk_open(struct disk *d, struct str name, struct disk_file **ret_file, bool *ret_is_new);
enum rc disk_delete(struct disk *d, struct str name); /* RC_NOT_FOUND */
enum rc disk_sync_names(struct disk *d);

/* How many of the bytes asked for there are. */
enum rc disk_read(struct disk *d, const struct disk_file *f, uint64_t at, void *to, size_t bytes,
                  size_t *ret_bytes);
enum rc disk_write(struct disk *d, struct disk_file *f, uint64_t at, const void *from,
                   size_t bytes);
enum rc disk_truncate(struct disk *d, struct disk_file *f, uint64_t bytes);
enum rc disk_sync(struct disk *d, struct disk_file *f);
uint64_t disk_size(const struct disk_file *f);
/* A place for what a file system keeps about a file while it runs; freed and cleared by a reboot. */
void **disk_note(struct disk_file *f);

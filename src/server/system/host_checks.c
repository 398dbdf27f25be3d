/* host_checks.c - the machine that a server runs on: its clock, its time zones, its limits and its
 * disks. */
#include "base/date.h"
#include "loop/clock.h"
#include "loop/disk.h"
#include "loop/file.h"
#include "loop/machine.h"
#include "loop/zones.h"
#include "server/config/settings.h"
#include "server/system/checks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CLOCK_OFF_MS = 1000, /* people compare times of several machines by the second */
    TZDATA_YEARS = 1,    /* rules of the year before last miss some government's change */
    VERSION_BYTES_MAX = 32,
    PROCESSES_PER_RUN = 4, /* a command, its shell, and what these start */
    PROCESSES_SPARE = 64,
    DISK_WARNING_PERCENT = 5,
    INODES_WARNING = 10000,
    DAY_MS = 24 * 3600 * 1000,
};
#define DISK_WARNING_BYTES (UINT64_C(1) << 30) /* some hours of a busy server's output */
#define DISK_FAILED_BYTES (UINT64_C(64) << 20) /* a few large commits and their log */

/* ---- clock */

static void check_clock(struct checks *c, const struct server *s)
{
    bool asks_system = s->options->clock_synced == 0;
    bool synced = clock_own_is_synced();
    int64_t off_ms = clock_own_wall_ms() - clock_wall_ms();
    struct timeline_steps steps = clock_steps();
    struct check *check = checks_add(
        c, "clock",
        arena_printf(c->arena,
                     "this machine's clock is %" PRId64 " ms %s the time that the server goes by; "
                     "the system says that it is %ssynchronised; %" PRIu64 " steps since the start",
                     off_ms < 0 ? -off_ms : off_ms, off_ms < 0 ? "behind" : "ahead of",
                     synced ? "" : "not ", steps.count));
    if (off_ms > CLOCK_OFF_MS || off_ms < -CLOCK_OFF_MS)
        check_find(check, CHECK_WARNING,
                   "synchronise this machine's clock and, in a cluster, that of the database's "
                   "machine: schedules go by the time of the server");
    else if (asks_system && !synced)
        check_find(check, CHECK_WARNING,
                   "run a time service (chrony, systemd-timesyncd) on this machine, or set "
                   "clock_synced=no if there is none on purpose");
}

/* ---- tzdata */

static const char *zones_dir(void)
{
    const char *dir = getenv("TZDIR");
    return dir != NULL && dir[0] != '\0' ? dir : "/usr/share/zoneinfo";
}

/* "2025b" of "# version 2025b"; empty: the files do not say. */
static struct str zones_version(struct arena *arena)
{
    char head[VERSION_BYTES_MAX];
    static const struct str mark = STR_INIT("# version ");
    const char *path = arena_zstr(arena, arena_printf(arena, "%s/tzdata.zi", zones_dir()));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? 0 : read(fd, head, sizeof head);
    if (fd >= 0)
        close(fd);
    struct str text = str_of(head, len > 0 ? (size_t)len : 0);
    text = str_head(text, str_index(text, '\n'));
    if (!str_starts(text, mark) || !str_is_utf8(text))
        return STR("");
    return arena_str(arena, str_from(text, mark.len));
}

static bool is_old(struct str version)
{
    uint64_t year;
    int64_t this_year = date_from_days(clock_wall_ms() / DAY_MS).year;
    return version.len >= 4 && str_to_u64(str_head(version, 4), &year) &&
           (int64_t)year < this_year - TZDATA_YEARS;
}

static void check_zones(struct checks *c, struct server *s)
{
    const struct zone *zone;
    struct err err;
    struct str version = zones_version(c->arena);
    enum rc rc = zones_find(s->zones, STR("Europe/Berlin"), &zone, &err);
    struct str detail =
        rc == RC_OK ? arena_printf(c->arena, "version %.*s, from %s",
                                   STR_ARG(version.len > 0 ? version : STR("unknown")), zones_dir())
                    : arena_printf(c->arena, "no zones in %s: %s", zones_dir(), err.text);
    struct check *check = checks_add(c, "tzdata", detail);
    if (rc != RC_OK)
        check_find(
            check, CHECK_FAILED,
            "install the package tzdata, or set TZDIR: without it schedules can name no time "
            "zone but UTC");
    else if (is_old(version))
        check_find(check, CHECK_WARNING,
                   "update the package tzdata: governments change the rules of time zones several "
                   "times a year; servers take them up by themselves");
}

/* ---- limits */

static struct str limit_text(struct arena *arena, rlim_t limit)
{
    return limit == RLIM_INFINITY ? STR("no limit")
                                  : arena_printf(arena, "%" PRIu64, (uint64_t)limit);
}

static void check_files(struct checks *c, const struct server *s)
{
    struct rlimit files;
    const struct setting *setting = settings_find(STR("connections_max"));
    getrlimit(RLIMIT_NOFILE, &files); /* cannot fail: the number is right */
    struct check *check = checks_add(
        c, "open_files",
        arena_printf(c->arena, "%.*s files may be open, %" PRIu64 " connections fit",
                     STR_ARG(limit_text(c->arena, files.rlim_cur)), s->options->connections_max));
    if (settings_is_adjusted(s->options, setting))
        check_find(check, CHECK_WARNING,
                   "fewer connections fit than connections_max says: raise the limit of open files "
                   "(LimitNOFILE of the service, ulimit -n), or lower connections_max");
}

static void check_processes(struct checks *c, const struct server *s)
{
    struct rlimit processes;
    uint64_t slots = s->options->no_worker ? 0 : s->options->slots;
    uint64_t wanted = slots * PROCESSES_PER_RUN + PROCESSES_SPARE;
    getrlimit(RLIMIT_NPROC, &processes);
    struct check *check = checks_add(
        c, "processes",
        arena_printf(c->arena, "limit of processes: %.*s; runs of the worker inside: %" PRIu64,
                     STR_ARG(limit_text(c->arena, processes.rlim_cur)), slots));
    if (processes.rlim_cur != RLIM_INFINITY && processes.rlim_cur < wanted)
        check_find(check, CHECK_WARNING,
                   "raise the limit of processes (LimitNPROC of the service, ulimit -u), or lower "
                   "slots: commands may fail to start");
}

/* ---- disks */

static void judge_disk(struct check *check, const struct disk_room *room)
{
    if (room->free_bytes < DISK_WARNING_BYTES ||
        room->free_bytes < room->all_bytes / 100 * DISK_WARNING_PERCENT)
        check_find(check, CHECK_WARNING,
                   "make room: when the disk is full the server takes nothing new; shorter "
                   "history_keep_ms and logs_keep_ms keep less");
    if (room->files_all > 0 && room->files_free < INODES_WARNING)
        check_find(check, CHECK_WARNING, "few files can still be made there (inodes): delete some");
    if (room->free_bytes < DISK_FAILED_BYTES)
        check_find(
            check, CHECK_FAILED,
            "make room now: the next commits will fail, and the server takes nothing new then");
}

/* False: it hangs, and so would whoever opens something there. */
static bool check_disk(struct checks *c, const char *name, const char *dir)
{
    struct disk_room room;
    struct err err;
    enum rc rc = disk_look(dir, &room, &err);
    if (rc != RC_OK) {
        struct check *check = checks_add(c, name, arena_str(c->arena, str_c(err.text)));
        check_find(check, CHECK_FAILED,
                   rc == RC_TIMEOUT
                       ? "its disk, or the server that has it, hangs: bring it back"
                       : "the directory was moved or deleted, or its disk is gone: bring it back");
        return rc != RC_TIMEOUT;
    }
    struct str text = arena_printf(c->arena, "%.*s of %.*s free where %s is",
                                   STR_ARG(checks_size(c->arena, room.free_bytes)),
                                   STR_ARG(checks_size(c->arena, room.all_bytes)), dir);
    judge_disk(checks_add(c, name, text), &room);
    return true;
}

/* SQLite's locks and shared memory do not work over a network. */
static void check_place(struct checks *c, const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool own = fd >= 0 && machine_has_file(fd);
    if (fd >= 0)
        close(fd);
    struct check *check =
        checks_add(c, "file_system",
                   arena_printf(c->arena,
                                own ? "%s is on a file system of this machine"
                                    : "%s is on a file system that may be another machine's",
                                dir));
    if (!own)
        check_find(check, CHECK_WARNING,
                   "keep an SQLite store on a local disk: over a network its locks do not hold and "
                   "the database may be damaged");
}

void checks_host(struct checks *c, struct server *s)
{
    const struct server_options *o = s->options;
    check_clock(c, s);
    check_zones(c, s);
    check_files(c, s);
    check_processes(c, s);
    bool answers = check_disk(c, "disk", o->data_dir);
    if (o->store_dir != NULL && strcmp(o->store_dir, o->data_dir) != 0)
        answers = check_disk(c, "store_disk", o->store_dir);
    if (o->store_dir != NULL && answers)
        check_place(c, o->store_dir);
}

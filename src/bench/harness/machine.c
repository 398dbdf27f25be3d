#include "bench/harness/machine.h"
#include "bench/harness/hist.h"
#include "loop/clock.h"
#include "loop/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/utsname.h>
#include <unistd.h>

enum {
    SYNCS = 50, /* a few hundred milliseconds on the slowest of disks */
    PAGE_BYTES = 4096,
    CPUINFO_BYTES_MAX = 4 << 20, /* of a machine with a thousand cores */
    STAT_BYTES_MAX = 4 << 20,
};

/* f_type is a number for each kind of file system; those without a name here are shown as it. */
static const struct fs_kind {
    uint32_t type;
    struct str name;
} fs_kinds[] = {
    {0xef53, STR_INIT("ext4")},      {0x58465342, STR_INIT("xfs")},
    {0x9123683e, STR_INIT("btrfs")}, {0x2fc12fc1, STR_INIT("zfs")},
    {0x01021994, STR_INIT("tmpfs")}, {0x794c7630, STR_INIT("overlay")},
    {0x6969, STR_INIT("nfs")},       {0xf2f52010, STR_INIT("f2fs")},
    {0x65735546, STR_INIT("fuse")},  {0xca451a4e, STR_INIT("bcachefs")},
};

static struct str file_system(const char *dir, struct arena *arena)
{
    struct statfs fs;
    if (statfs(dir, &fs) != 0)
        return STR("unknown");
    for (size_t i = 0; i < COUNT_OF(fs_kinds); i++) {
        if (fs_kinds[i].type == (uint32_t)fs.f_type)
            return fs_kinds[i].name;
    }
    return arena_printf(arena, "0x%x", (unsigned)fs.f_type);
}

/* "model name : Intel(R) ..." of the first core. */
static struct str cpu_name(struct arena *arena)
{
    struct str rest;
    if (file_read("/proc/cpuinfo", CPUINFO_BYTES_MAX, arena, &rest, NULL) != RC_OK)
        return STR("");
    while (rest.len > 0) {
        struct str value = str_cut(&rest, '\n');
        if (str_eq(str_trim(str_cut(&value, ':')), STR("model name")))
            return str_trim(value);
    }
    return STR("");
}

/* "cpu  USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL ...", in ticks. What a hypervisor took away
 * counts as used: it was not there for us. */
int64_t machine_cpu_us(void)
{
    static const bool idle[] = {false, false, false, true, true, false, false, false};
    CLEANUP(arena_free) struct arena arena = {0};
    struct str rest;
    uint64_t used = 0;
    if (file_read("/proc/stat", STAT_BYTES_MAX, &arena, &rest, NULL) != RC_OK ||
        !str_starts(rest, STR("cpu  ")))
        return 0;
    rest = str_from(rest, sizeof "cpu  " - 1);
    for (size_t i = 0; i < COUNT_OF(idle); i++) {
        uint64_t ticks = 0;
        if (str_to_u64(str_cut(&rest, ' '), &ticks) && !idle[i])
            used += ticks;
    }
    return (int64_t)(used * 1000000 / (uint64_t)sysconf(_SC_CLK_TCK));
}

static enum rc sync_once(int fd, const char *page, struct err *err)
{
    if (pwrite(fd, page, PAGE_BYTES, 0) == PAGE_BYTES && fdatasync(fd) == 0)
        return RC_OK;
    return err_set(err, RC_IO, "cannot write: %s", strerror(errno));
}

/* What the disk takes for a commit, whatever the program; the floor of every durable answer. */
static enum rc time_syncs(const char *dir, uint64_t *ret_us, struct err *err)
{
    static const char page[PAGE_BYTES];
    struct hist times = {0};
    enum rc rc = RC_OK;
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) { /* not every file system can make a file without a name */
        *ret_us = 0;
        return RC_OK;
    }
    for (int i = 0; i < SYNCS && rc == RC_OK; i++) {
        int64_t begun_us = clock_mono_us();
        rc = sync_once(fd, page, err);
        hist_add(&times, (uint64_t)(clock_mono_us() - begun_us));
    }
    close(fd);
    *ret_us = hist_quantile(&times, 500);
    return rc == RC_OK ? RC_OK : err_note(err, "%s", dir);
}

enum rc machine_look(const char *dir, struct arena *arena, struct machine *ret_machine,
                     struct err *err)
{
    struct utsname name;
    double load = 0;
    uname(&name); /* cannot fail */
    (void)getloadavg(&load, 1);
    *ret_machine = (struct machine){
        .cores = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN),
        .cpu = cpu_name(arena),
        .kernel = arena_printf(arena, "%s %s", name.sysname, name.release),
        .memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE),
        .load = load,
        .file_system = file_system(dir, arena),
    };
    return time_syncs(dir, &ret_machine->sync_us, err);
}

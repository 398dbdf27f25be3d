#include "server/metrics/readings.h"
#include "loop/clock.h"
#include "loop/disk.h"
#include "server/cluster/membership.h"
#include "wire/http/http_quota.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STAT_BYTES = 1024 };

#define SECOND_US INT64_C(1000000)

/* ---- the process */

/* The first bytes of a file of /proc, ended by a NUL; false: there is none. */
static bool read_proc(const char *path, char ret_text[STAT_BYTES])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? -1 : read(fd, ret_text, STAT_BYTES - 1);
    if (fd >= 0)
        close(fd);
    ret_text[len > 0 ? len : 0] = '\0';
    return len > 0;
}

/* Cut off, up to a blank; 0: it is none. */
static int64_t next_number(struct str *rest)
{
    int64_t number = 0;
    (void)str_to_i64(str_cut(rest, ' '), &number);
    return number;
}

static void read_memory(int64_t *server)
{
    char text[STAT_BYTES];
    int64_t page = sysconf(_SC_PAGESIZE);
    bool known = read_proc("/proc/self/statm", text);
    struct str rest = str_c(text);
    server[CELL_VIRTUAL] = known ? next_number(&rest) * page : METRIC_NO_VALUE;
    server[CELL_RESIDENT] = known ? next_number(&rest) * page : METRIC_NO_VALUE;
}

static void read_files(int64_t *server)
{
    struct rlimit most;
    int64_t count = 0;
    DIR *dir = opendir("/proc/self/fd");
    if (dir != NULL) {
        while (readdir(dir) != NULL)
            count++;
        closedir(dir);
        server[CELL_OPEN_FILES] = count - 3; /* ".", "..", and the one that reads them */
    }
    if (getrlimit(RLIMIT_NOFILE, &most) == 0 && most.rlim_cur != RLIM_INFINITY)
        server[CELL_MOST_FILES] = (int64_t)most.rlim_cur;
}

static int64_t time_us(struct timeval tv)
{
    return (int64_t)tv.tv_sec * SECOND_US + tv.tv_usec;
}

static void read_process(const struct server *s, int64_t *server)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used); /* cannot fail: the argument is right */
    server[CELL_CPU] = time_us(used.ru_utime) + time_us(used.ru_stime);
    server[CELL_BEGUN] = s->started_ms;
    read_memory(server);
    read_files(server);
}

/* ---- threads */

/* "PID (NAME) S …": the 14th and the 15th field are times; names may hold anything. */
static bool parse_thread(char *text, struct thread_time *ret_thread)
{
    enum { BEFORE_TIMES = 12 }; /* a blank and eleven fields */
    char *name = strchr(text, '(');
    char *end = strrchr(text, ')');
    if (name == NULL || end == NULL)
        return false;
    struct str rest = str_c(end + 1);
    for (int i = 0; i < BEFORE_TIMES; i++)
        (void)str_cut(&rest, ' ');
    int64_t ticks = next_number(&rest);
    ticks += next_number(&rest);
    *end = '\0';
    snprintf(ret_thread->name, sizeof ret_thread->name, "%s", name + 1);
    ret_thread->us = ticks * SECOND_US / sysconf(_SC_CLK_TCK);
    return true;
}

static struct thread_time *find_thread(struct thread_times *t, const char *name)
{
    size_t i = 0;
    while (i < t->count && strcmp(t->all[i].name, name) != 0)
        i++;
    if (i == THREAD_NAMES_MAX)
        return &t->all[i - 1]; /* there are no more than half as many */
    if (i == t->count)
        snprintf(t->all[t->count++].name, sizeof t->all[0].name, "%s", name);
    return &t->all[i];
}

void thread_times_add(struct thread_times *total, const struct thread_times *now)
{
    for (size_t i = 0; i < now->count; i++)
        (void)find_thread(total, now->all[i].name);
    for (size_t i = 0; i < total->count; i++) {
        struct thread_time *time = &total->all[i];
        int64_t us = 0;
        for (size_t k = 0; k < now->count; k++)
            us += find_thread(total, now->all[k].name) == time ? now->all[k].us : 0;
        if (us < time->us)
            time->ended_us += time->us - us;
        time->us = us;
    }
}

static void read_threads(struct thread_times *ret_now)
{
    struct thread_time one;
    char text[STAT_BYTES];
    char path[512];
    DIR *dir = opendir("/proc/self/task");
    *ret_now = (struct thread_times){.count = 0};
    for (const struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        snprintf(path, sizeof path, "/proc/self/task/%s/stat", entry->d_name);
        if (entry->d_name[0] != '.' && read_proc(path, text) && parse_thread(text, &one))
            find_thread(ret_now, one.name)->us += one.us;
    }
    if (dir != NULL)
        closedir(dir);
}

static void put_threads(struct thread_times *times, struct arena *arena,
                        struct metric_rows *ret_rows)
{
    struct thread_times now;
    read_threads(&now);
    thread_times_add(times, &now);
    struct metric_row *rows = ARENA_ARRAY(arena, struct metric_row, times->count);
    for (size_t i = 0; i < times->count; i++) {
        CLEANUP(buf_free) struct buf label = BUF(STAT_BYTES);
        int64_t *cells = ARENA_ARRAY(arena, int64_t, THREAD_CELLS);
        cells[CELL_THREAD_CPU] = times->all[i].us + times->all[i].ended_us;
        metric_label_print(&label, metric_axis_label(AXIS_THREAD), str_c(times->all[i].name));
        rows[i] = (struct metric_row){.labels = arena_str(arena, buf_str(&label)), .cells = cells};
    }
    *ret_rows = (struct metric_rows){rows, times->count};
}

/* ---- disks */

static void read_size(const char *dir, const char *name, int64_t *ret_bytes)
{
    char path[4096];
    struct stat file;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    if (stat(path, &file) == 0)
        *ret_bytes = file.st_size;
}

static void read_disk(const struct server *s, int64_t *server)
{
    static const char *const names[FILE_KINDS] = {
        [FILE_DATABASE] = "belfry.db",
        [FILE_WAL] = "belfry.db-wal",
        [FILE_OUTPUT] = "logs.db",
        [FILE_OUTPUT_WAL] = "logs.db-wal",
    };
    struct disk_room room;
    struct err err;
    const char *dir = s->options->store_dir;
    enum rc rc = disk_look(s->options->data_dir, &room, &err);
    server[CELL_DISK_FREE] = rc == RC_OK ? (int64_t)room.free_bytes : METRIC_NO_VALUE;
    server[CELL_DISK_SIZE] = rc == RC_OK ? (int64_t)room.all_bytes : METRIC_NO_VALUE;
    for (size_t i = 0; i < FILE_KINDS; i++) {
        server[CELL_FILES + i] = METRIC_NO_VALUE;
        if (dir != NULL && rc != RC_TIMEOUT) /* what hangs is not asked for more */
            read_size(dir, names[i], &server[CELL_FILES + i]);
    }
}

/* ---- the server's own */

static void read_clock(int64_t *server)
{
    server[CELL_SKEW] = clock_own_wall_ms() - clock_wall_ms();
    server[CELL_CLOCK_STEPS] = (int64_t)clock_steps().count;
    server[CELL_SYNCED] = clock_own_is_synced();
}

static void read_store(const struct server *s, int64_t *server)
{
    const struct store_cost cost = s->store->ops->cost(s->store);
    server[CELL_COMMITS] = (int64_t)cost.commits;
    server[CELL_SYNCS] = (int64_t)cost.syncs;
    server[CELL_SYNC_TIME] = (int64_t)cost.sync_us;
    bool elsewhere = s->options->store_url != NULL;
    server[CELL_ROUND_TRIPS] = elsewhere ? (int64_t)cost.round_trips : METRIC_NO_VALUE;
    server[CELL_QUARANTINED] = (int64_t)atomic_load(&s->quarantined);
}

static void read_incidents(const struct server *s, int64_t *server)
{
    uint64_t takeovers[TAKEOVER_WHYS];
    struct outage_count outages = incidents_count(s->incidents, takeovers);
    for (size_t i = 0; i < TAKEOVER_WHYS; i++)
        server[CELL_TAKEOVERS + i] = (int64_t)takeovers[i];
    server[CELL_OUTAGES] = (int64_t)outages.begun;
    server[CELL_TROUBLE] = outages.goes_on;
}

static void read_traces(const struct server *s, int64_t *server)
{
    const struct trace_counts counts = tracer_counts(s->tracer);
    server[CELL_SPANS_EXPORTED] = counts.exported;
    server[CELL_SPANS_REJECTED] = counts.rejected;
    server[CELL_BATCHES_FAILED] = counts.failed;
    server[CELL_TRACE_QUEUE] = counts.queue_bytes;
    for (size_t i = 0; i < TRACE_DROPS; i++)
        server[CELL_SPANS_DROPPED + i] = counts.dropped[i];
}

static void put_cluster(int64_t *server, int64_t owned, int64_t partitions, int64_t servers)
{
    server[CELL_PARTITIONS] = owned;
    server[CELL_LEADER] = owned > 0;
    server[CELL_ALL_PARTITIONS] = partitions;
    server[CELL_SERVERS] = servers;
}

/* A server that cannot renew its row goes by an old view: others may own what it had, and tell
 * about that. A server that is alone with its store owns all of it. */
static void read_cluster(const struct server *s, struct arena *arena, struct metric_copy *copy)
{
    struct cluster_view view;
    struct node_rec me;
    int64_t owned = 0;
    copy->server[CELL_SILENT] = METRIC_NO_VALUE;
    if (s->membership == NULL) {
        put_cluster(copy->server, 1, 1, 1);
        return;
    }
    membership_look(s->membership, arena, &view, &me);
    copy->server[CELL_SILENT] = membership_longest_silence_ms(s->membership);
    bool decides = membership_may_decide(s->membership);
    for (size_t p = 0; p < view.partition_count; p++)
        owned += decides && str_eq(view.partitions[p].owner, me.start);
    put_cluster(copy->server, owned, (int64_t)view.partition_count, (int64_t)view.node_count);
    if (!decides && view.node_count > 1)
        metric_copy_hide_second(copy);
}

void readings_take(const struct server *s, struct thread_times *times, struct arena *arena,
                   struct metric_copy *copy)
{
    int64_t *server = copy->server;
    server[CELL_BUILD] = 1;
    server[CELL_DRAINING] = atomic_load(&s->draining);
    server[CELL_ALERTS_PENDING] =
        s->alert_sender == NULL ? METRIC_NO_VALUE : (int64_t)atomic_load(&s->alerts_pending);
    server[CELL_CONNECTIONS_MAX] = (int64_t)s->options->connections_max;
    server[CELL_IN_MEMORY_MAX] = (int64_t)s->options->engine.live_max;
    server[CELL_CONNECTIONS] = (int64_t)http_quota_connections(s->quota);
    server[CELL_NUMBERS_AGE] =
        copy->gauges_ms == 0 ? METRIC_NO_VALUE : clock_boot_ms() - copy->gauges_ms;
    read_process(s, server);
    read_disk(s, server);
    read_clock(server);
    read_store(s, server);
    read_incidents(s, server);
    read_traces(s, server);
    read_cluster(s, arena, copy);
    put_threads(times, arena, &copy->axes[AXIS_THREAD]);
}

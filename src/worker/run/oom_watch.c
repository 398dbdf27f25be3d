#include "worker/run/oom_watch.h"
#include "base/str.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, TEXT_BYTES = 16384 };

static int open_in(const char *root, struct str group, const char *name)
{
    char path[PATH_BYTES];
    if ((size_t)snprintf(path, sizeof path, "%s%.*s/%s", root, STR_ARG(group), name) >= sizeof path)
        return -1;
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* One line of /proc/self/cgroup: "0::/group" for version 2, "4:memory:/group" for version 1. */
static int open_group(struct str line)
{
    str_cut(&line, ':');
    struct str controllers = str_cut(&line, ':');
    struct str group = str_eq(line, STR("/")) ? STR("") : line;
    if (controllers.len == 0) {
        int fd = open_in("/sys/fs/cgroup", group, "memory.events");
        return fd >= 0 ? fd : open_in("/sys/fs/cgroup", STR(""), "memory.events");
    }
    if (!str_eq(controllers, STR("memory")))
        return -1;
    int fd = open_in("/sys/fs/cgroup/memory", group, "memory.oom_control");
    /* In a container the path is the host's, and what we see is our own group's. */
    return fd >= 0 ? fd : open_in("/sys/fs/cgroup/memory", STR(""), "memory.oom_control");
}

static size_t read_text(int fd, char text[TEXT_BYTES])
{
    ssize_t len = pread(fd, text, TEXT_BYTES, 0);
    return len > 0 ? (size_t)len : 0;
}

void oom_watch_open(struct oom_watch *watch)
{
    char text[TEXT_BYTES];
    int groups = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
    struct str lines = str_of(text, groups < 0 ? 0 : read_text(groups, text));
    if (groups >= 0)
        close(groups);
    watch->fd = -1;
    while (lines.len > 0 && watch->fd < 0)
        watch->fd = open_group(str_cut(&lines, '\n'));
    if (watch->fd < 0)
        watch->fd = open("/proc/vmstat", O_RDONLY | O_CLOEXEC);
}

int64_t oom_watch_count(const struct oom_watch *watch)
{
    char text[TEXT_BYTES];
    int64_t count;
    struct str lines = str_of(text, watch->fd < 0 ? 0 : read_text(watch->fd, text));
    while (lines.len > 0) {
        struct str line = str_cut(&lines, '\n');
        struct str word = str_cut(&line, ' ');
        if (str_eq(word, STR("oom_kill")) && str_to_i64(line, &count))
            return count;
    }
    return 0;
}

void oom_watch_close(struct oom_watch *watch)
{
    if (watch->fd >= 0)
        close(watch->fd);
    watch->fd = -1;
}

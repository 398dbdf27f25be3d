#include "worker/pidlock.h"
#include "base/log.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* 0 when the file says nothing sensible. */
static pid_t read_pid(int fd)
{
    char text[32];
    int64_t pid = 0;
    ssize_t len = pread(fd, text, sizeof(text), 0);
    if (len <= 0 || !str_to_i64(str_trim(str_of(text, (size_t)len)), &pid))
        return 0;
    return (pid_t)pid;
}

static bool is_alive(pid_t pid)
{
    return kill(pid, 0) == 0 || errno == EPERM;
}

static enum rc lock(int fd, const char *path, struct err *err)
{
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return RC_OK;
    if (errno != EWOULDBLOCK)
        return err_set(err, RC_IO, "lock %s: %s", path, strerror(errno));
    pid_t pid = read_pid(fd);
    if (pid == 0 || is_alive(pid)) /* 0: it is just about to write its id */
        return err_set(err, RC_CONFLICT, "%s is held by process %d", path, (int)pid);
    log_info("waiting for what a dead worker left to end", "lock", path, NULL);
    while (flock(fd, LOCK_EX) != 0) {
        if (errno != EINTR)
            return err_set(err, RC_IO, "lock %s: %s", path, strerror(errno));
    }
    return RC_OK;
}

static enum rc write_pid(int fd, const char *path, struct err *err)
{
    char text[32];
    int len = snprintf(text, sizeof(text), "%d\n", (int)getpid());
    if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)len, 0) != len)
        return err_set(err, RC_IO, "write %s: %s", path, strerror(errno));
    return RC_OK;
}

enum rc pidlock_take(const char *path, int *ret_fd, struct err *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set(err, RC_IO, "open %s: %s", path, strerror(errno));
    enum rc rc = lock(fd, path, err);
    if (rc == RC_OK)
        rc = write_pid(fd, path, err);
    if (rc != RC_OK)
        close(fd);
    else
        *ret_fd = fd;
    return rc;
}

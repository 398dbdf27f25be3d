#include "store/sqlite/dir.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static char *join(const char *dir, const char *name)
{
    size_t bytes = strlen(dir) + 1 + strlen(name) + 1;
    char *path = mem_new(bytes);
    snprintf(path, bytes, "%s/%s", dir, name);
    return path;
}

static enum rc open_file(const char *path, int *ret_fd, struct err *err)
{
    *ret_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (*ret_fd >= 0)
        return RC_OK;
    return err_set(err, RC_IO, "cannot open %s: %s", path, strerror(errno));
}

static enum rc in_use(const char *dir, int fd, struct err *err)
{
    char pid[24] = "";
    if (pread(fd, pid, sizeof pid - 1, 0) <= 0)
        return err_set(err, RC_BUSY, "%s is in use by another belfry server", dir);
    pid[strcspn(pid, "\n")] = '\0';
    return err_set(err, RC_BUSY, "%s is in use by another belfry server (pid %s)", dir, pid);
}

static enum rc lock_file(const char *dir, int fd, struct err *err)
{
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK)
            return in_use(dir, fd, err);
        return err_set(err, RC_IO, "cannot lock %s: %s", dir, strerror(errno));
    }
    char pid[24];
    int len = snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) != 0 || pwrite(fd, pid, (size_t)len, 0) != len)
        return err_set(err, errno == ENOSPC ? RC_FULL : RC_IO, "cannot write %s/lock: %s", dir,
                       strerror(errno));
    return RC_OK;
}

enum rc dir_lock(const char *dir, int *ret_fd, struct err *err)
{
    if (mkdir(dir, 0700) != 0 && errno != EEXIST)
        return err_set(err, RC_IO, "cannot make the directory %s: %s", dir, strerror(errno));
    char *path = join(dir, "lock");
    int fd = -1;
    enum rc rc = open_file(path, &fd, err);
    free(path);
    TRY(rc);
    rc = lock_file(dir, fd, err);
    if (rc != RC_OK)
        close(fd);
    else
        *ret_fd = fd;
    return rc;
}

enum rc dir_file(const char *dir, const char *name, char **ret_path, struct err *err)
{
    char *path = join(dir, name);
    int fd = -1;
    enum rc rc = open_file(path, &fd, err);
    if (rc != RC_OK) {
        free(path);
        return rc;
    }
    close(fd);
    *ret_path = path;
    return RC_OK;
}

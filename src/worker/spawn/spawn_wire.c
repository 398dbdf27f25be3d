#include "worker/spawn/spawn_wire.h"
#include "base/buf.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* At the start of a plan; the texts follow, each with its NUL: directory, arguments,
 * environment. */
struct plan_head {
    uint32_t argc;
    uint32_t env_count;
};

enum { PLAN_BYTES_MAX = 64 << 20 }; /* far above what execve takes; a bug, not a plan */

static uint32_t add_list(struct buf *out, char *const *list)
{
    uint32_t count = 0;
    for (; list[count] != NULL; count++)
        buf_add(out, str_of(list[count], strlen(list[count]) + 1));
    return count;
}

static enum rc write_all(int fd, struct str bytes, struct err *err)
{
    while (bytes.len > 0) {
        ssize_t written = write(fd, bytes.ptr, bytes.len);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return err_set(err, RC_IO, "write to a memory file: %s", strerror(errno));
        bytes = str_from(bytes, (size_t)written);
    }
    return RC_OK;
}

enum rc spawn_plan_write(const struct spawn_plan *plan, int *ret_fd, struct err *err)
{
    CLEANUP(buf_free) struct buf out = BUF(PLAN_BYTES_MAX);
    struct plan_head head = {0};
    const char *dir = plan->working_dir == NULL ? "" : plan->working_dir;

    buf_add(&out, str_of((const char *)&head, sizeof(head)));
    buf_add(&out, str_of(dir, strlen(dir) + 1));
    head.argc = add_list(&out, plan->argv);
    head.env_count = add_list(&out, plan->env);
    if (out.overflow)
        return err_set(err, RC_TOO_LARGE, "arguments and environment exceed %d bytes",
                       PLAN_BYTES_MAX);
    memcpy(out.ptr, &head, sizeof(head));

    int fd = memfd_create("belfry-plan", MFD_CLOEXEC);
    if (fd < 0)
        return err_set(err, RC_IO, "memfd_create: %s", strerror(errno));
    if (write_all(fd, buf_str(&out), err)) {
        close(fd);
        return err->rc;
    }
    *ret_fd = fd;
    return RC_OK;
}

/* The next `count` texts of [*at, end) as a list; NULL when the bytes end before. */
static char **take_list(char **at, const char *end, uint32_t count, struct arena *arena)
{
    char **list = ARENA_ARRAY(arena, char *, (size_t)count + 1);
    for (uint32_t i = 0; i < count; i++) {
        size_t room = (size_t)(end - *at);
        size_t len = strnlen(*at, room);
        if (len == room)
            return NULL;
        list[i] = *at;
        *at += len + 1;
    }
    return list;
}

int spawn_plan_read(int fd, struct arena *arena, struct spawn_plan *ret_plan)
{
    struct stat st;
    struct plan_head head;
    if (fstat(fd, &st) != 0)
        return errno;
    if (st.st_size < (off_t)sizeof(head) || st.st_size > PLAN_BYTES_MAX)
        return EINVAL;
    char *at = arena_bytes(arena, (size_t)st.st_size);
    if (pread(fd, at, (size_t)st.st_size, 0) != st.st_size) /* of memory: whole, or not at all */
        return EIO;
    const char *end = at + st.st_size;
    memcpy(&head, at, sizeof(head));
    at += sizeof(head);

    char **dir = take_list(&at, end, 1, arena);
    char **argv = take_list(&at, end, head.argc, arena);
    char **env = take_list(&at, end, head.env_count, arena);
    if (dir == NULL || argv == NULL || env == NULL || head.argc == 0)
        return EINVAL;
    *ret_plan = (struct spawn_plan){
        .working_dir = dir[0][0] == '\0' ? NULL : dir[0],
        .argv = argv,
        .env = env,
    };
    return 0;
}

/* Room for the descriptors of one message, aligned as the kernel wants it. */
union control {
    char bytes[CMSG_SPACE(sizeof(int) * SPAWN_FDS)];
    struct cmsghdr align;
};

int spawn_send(int sock, const void *message, size_t bytes, const int *fds, size_t fd_count,
               int flags)
{
    assert(fd_count <= SPAWN_FDS);
    union control control = {{0}};
    struct iovec part = {.iov_len = bytes};
    memcpy(&part.iov_base, &message, sizeof(message)); /* sendmsg reads only, but says void * */
    struct msghdr msg = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd_count > 0) {
        msg.msg_control = control.bytes;
        msg.msg_controllen = CMSG_SPACE(sizeof(int) * fd_count);
        struct cmsghdr *rights = CMSG_FIRSTHDR(&msg);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof(int) * fd_count);
        memcpy(CMSG_DATA(rights), fds, sizeof(int) * fd_count);
    }
    for (;;) {
        if (sendmsg(sock, &msg, flags | MSG_NOSIGNAL) >= 0)
            return 0;
        if (errno != EINTR)
            return errno;
    }
}

static void take_fds(struct msghdr *msg, int ret_fds[SPAWN_FDS])
{
    for (size_t i = 0; i < SPAWN_FDS; i++)
        ret_fds[i] = -1;
    struct cmsghdr *rights = CMSG_FIRSTHDR(msg);
    if (rights == NULL || rights->cmsg_level != SOL_SOCKET || rights->cmsg_type != SCM_RIGHTS)
        return;
    memcpy(ret_fds, CMSG_DATA(rights), rights->cmsg_len - CMSG_LEN(0));
}

int spawn_receive(int sock, void *ret_message, size_t bytes, int ret_fds[SPAWN_FDS])
{
    union control control;
    struct iovec part = {.iov_base = ret_message, .iov_len = bytes};
    struct msghdr msg = {.msg_iov = &part, .msg_iovlen = 1};
    if (ret_fds != NULL) {
        msg.msg_control = control.bytes;
        msg.msg_controllen = sizeof(control.bytes);
    }
    ssize_t got;
    do {
        got = recvmsg(sock, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return errno == EAGAIN || errno == ECONNRESET ? errno : EPIPE;
    if (got == 0)
        return EPIPE;
    assert((size_t)got == bytes); /* our own binary is on the other side */
    if (ret_fds != NULL)
        take_fds(&msg, ret_fds);
    return 0;
}

/* beanstalk_bench.c - the whole life of jobs in beanstalkd: put, reserve, delete.
 *
 *     beanstalk_bench PORT JOBS BATCH
 *
 * As in `belfry bench life` the client and the worker are two processes. Both say as much at once
 * as the protocol lets them: BATCH commands are written in one go and their BATCH answers read
 * after that, which is what a batch is over HTTP. The client keeps four batches under way on as
 * many connections; the worker reserves a batch, then deletes it. Prints jobs per second, from the
 * first put until the last delete was answered. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CLIENTS = 4, READ_BYTES = 1 << 18, BATCH_MAX = 10000, COMMAND_BYTES_MAX = 64 };

static const char body[] = "{\"handler\":\"bench\"}";

/* One connection, and what came over it that was not looked at yet. */
struct talk {
    int fd;
    char bytes[READ_BYTES];
    size_t at;
    size_t len;
};

_Noreturn static void fail(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

static int64_t mono_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static struct talk *talk_open(uint16_t port)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET,
        .sin_port = htons(port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    struct talk *t = calloc(1, sizeof *t);
    int on = 1;
    t->fd = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(t->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(t->fd, (struct sockaddr *)&to, sizeof to) != 0)
        fail("connect");
    return t;
}

static void talk_say(struct talk *t, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t sent = write(t->fd, text, len);
        if (sent <= 0)
            fail("write");
        text += sent;
        len -= (size_t)sent;
    }
}

static void talk_hear(struct talk *t)
{
    memmove(t->bytes, t->bytes + t->at, t->len - t->at);
    t->len -= t->at;
    t->at = 0;
    ssize_t got = read(t->fd, t->bytes + t->len, sizeof t->bytes - t->len);
    if (got <= 0)
        fail("read");
    t->len += (size_t)got;
}

/* The next line, without its end; waits for it. Valid until the next call. */
static char *talk_line(struct talk *t)
{
    for (;;) {
        char *line = t->bytes + t->at;
        char *end = memchr(line, '\n', t->len - t->at);
        if (end != NULL) {
            t->at = (size_t)(end + 1 - t->bytes);
            end[-1] = '\0';
            return line;
        }
        talk_hear(t);
    }
}

static void expect(const char *line, const char *start)
{
    if (strncmp(line, start, strlen(start)) == 0)
        return;
    fprintf(stderr, "beanstalkd said '%s' instead of %s\n", line, start);
    exit(EXIT_FAILURE);
}

/* ---- the client */

static void put_batch(struct talk *t, size_t batch)
{
    static char text[BATCH_MAX * COMMAND_BYTES_MAX];
    static size_t len;
    if (len == 0) {
        for (size_t i = 0; i < batch; i++)
            len += (size_t)snprintf(text + len, COMMAND_BYTES_MAX, "put 500 0 60 %zu\r\n%s\r\n",
                                    sizeof body - 1, body);
    }
    talk_say(t, text, len);
}

static void hear_puts(struct talk *t, size_t batch)
{
    for (size_t i = 0; i < batch; i++)
        expect(talk_line(t), "INSERTED ");
}

static void put_all(uint16_t port, size_t jobs, size_t batch)
{
    struct talk *talks[CLIENTS];
    struct pollfd fds[CLIENTS];
    size_t sent = 0;
    for (size_t i = 0; i < CLIENTS; i++) {
        talks[i] = talk_open(port);
        fds[i] = (struct pollfd){.fd = talks[i]->fd, .events = POLLIN};
        put_batch(talks[i], batch);
        sent += batch;
    }
    for (size_t heard = 0; heard < jobs;) {
        if (poll(fds, CLIENTS, -1) < 0)
            fail("poll");
        for (size_t i = 0; i < CLIENTS; i++) {
            if ((fds[i].revents & POLLIN) == 0)
                continue;
            hear_puts(talks[i], batch);
            heard += batch;
            if (sent < jobs) {
                put_batch(talks[i], batch);
                sent += batch;
            } else {
                fds[i].fd = -1;
            }
        }
    }
}

/* ---- the worker */

static void reserve_batch(struct talk *t, size_t batch, uint64_t *ret_ids)
{
    static char text[BATCH_MAX * COMMAND_BYTES_MAX];
    size_t len = 0;
    for (size_t i = 0; i < batch; i++)
        len += (size_t)snprintf(text + len, COMMAND_BYTES_MAX, "reserve\r\n");
    talk_say(t, text, len);
    for (size_t i = 0; i < batch; i++) {
        char *line = talk_line(t);
        expect(line, "RESERVED ");
        ret_ids[i] = strtoull(line + strlen("RESERVED "), NULL, 10);
        talk_line(t); /* the body, which has no line break of its own */
    }
}

static void delete_batch(struct talk *t, size_t batch, const uint64_t *ids)
{
    static char text[BATCH_MAX * COMMAND_BYTES_MAX];
    size_t len = 0;
    for (size_t i = 0; i < batch; i++)
        len += (size_t)snprintf(text + len, COMMAND_BYTES_MAX, "delete %" PRIu64 "\r\n", ids[i]);
    talk_say(t, text, len);
    for (size_t i = 0; i < batch; i++)
        expect(talk_line(t), "DELETED");
}

static void work_all(uint16_t port, size_t jobs, size_t batch)
{
    static uint64_t ids[BATCH_MAX];
    struct talk *t = talk_open(port);
    for (size_t done = 0; done < jobs; done += batch) {
        reserve_batch(t, batch, ids);
        delete_batch(t, batch, ids);
    }
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: beanstalk_bench PORT JOBS BATCH\n");
        return 2;
    }
    uint16_t port = (uint16_t)strtoul(argv[1], NULL, 10);
    size_t batch = strtoul(argv[3], NULL, 10);
    size_t jobs = strtoul(argv[2], NULL, 10) / batch * batch;
    if (batch == 0 || batch > BATCH_MAX || jobs < CLIENTS * batch)
        fail("a batch has up to 10000 jobs, and there must be four of them");
    int64_t begun_us = mono_us();
    pid_t worker = fork();
    if (worker == 0) {
        work_all(port, jobs, batch);
        _exit(EXIT_SUCCESS);
    }
    put_all(port, jobs, batch);
    int status;
    if (waitpid(worker, &status, 0) != worker || status != 0)
        fail("the worker");
    double seconds = (double)(mono_us() - begun_us) / 1e6;
    printf("jobs_per_s %.0f\nseconds %.3f\njobs %zu\n", (double)jobs / seconds, seconds, jobs);
    return EXIT_SUCCESS;
}

/* engine_bench.c - how many jobs a second the engine alone can decide.
 *
 * No store, no sockets, no threads: commands go in, a delta comes out and is thrown away. Every
 * turn submits a batch, leases it to the workers that wait, and takes the results of the batch
 * before; so at any time two batches are alive and every job lives its whole life.
 *
 * `engine_bench failures` compares instead what an attempt that fails costs with one that succeeds,
 * both on the first of these loads, and prints that as a name and a number a line. */
#include "base/vec.h"
#include "engine/core/engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCH = 500, WORKERS_MAX = 500, SECONDS = 2 };

/* How the work is spread. */
struct load {
    const char *what;
    size_t lanes;   /* queues that the jobs go to, in turn */
    size_t workers; /* that share the batch */
    size_t backlog; /* jobs that wait in vain, behind all others */
    size_t idle;    /* parked workers that serve another queue */
    bool own; /* each worker serves one of the queues only, in the order that suits it least */
};

static const struct load loads[] = {
    {"one worker, one queue", 1, 1, 0, 0, false},
    {"one worker, one queue, 1000000 jobs wait", 1, 1, 1000000, 0, false},
    {"500 workers with one slot each", 1, 500, 0, 0, false},
    {"one worker, 500 queues", 500, 1, 0, 0, false},
    {"500 workers, 500 queues, 100000 jobs wait", 500, 500, 100000, 0, false},
    {"one worker, 500 queues, 1000 others idle", 500, 1, 100000, 1000, false},
    {"500 workers, each for one of 500 queues", 500, 500, 100000, 0, true},
};

/* What a program that failed leaves behind. */
static const struct poll_result failure = {
    .outcome = OUTCOME_FAILED,
    .usage = {.exit_code = 1},
    .error = STR_INIT("exited with code 1"),
    .tail = STR_INIT("Traceback (most recent call last):\n"
                     "  File \"/srv/report.py\", line 42, in fetch\n"
                     "ConnectionError: 10.0.0.7:5432: connection 0x7f3a refused after 1250 ms\n"),
};

struct hand {
    uint64_t id;
    uint64_t seq;
    struct arena arena;
    struct command poll;
};

struct bench {
    const struct load *load;
    struct engine *engine;
    struct arena turn;
    struct arena arena; /* of the submission */
    struct command submit;
    struct hand *hands;
    struct arena names;
    struct str *queues;
    int64_t now_ms;
    size_t done;
    bool fails; /* every attempt does, and is made again until the retries are used up */
};

/* Of processor time, so that company on the machine does not count. */
static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static enum rc read_rules(void *arg, const struct job_rec *job, struct arena *arena,
                          struct rules *ret_rules, struct err *err)
{
    (void)arg, (void)job, (void)arena, (void)ret_rules;
    return err_set(err, RC_CORRUPT, "nothing is ever loaded here");
}

static void run_turn(struct bench *b, struct command **commands, size_t count)
{
    struct list done;
    struct question_list list = {0};
    const struct event *events;
    size_t event_count;
    list_init(&done);
    arena_reset(&b->turn);
    engine_begin(b->engine, (struct moment){.wall_ms = b->now_ms, .boot_ms = b->now_ms}, &b->turn);
    for (size_t i = 0; i < count; i++)
        engine_ask(b->engine, commands[i], 0, &list);
    engine_tick(b->engine);
    for (size_t i = 0; i < count; i++)
        engine_decide(b->engine, commands[i]);
    engine_seal(b->engine);
    engine_commit(b->engine, &done, &events, &event_count);
    while (list_pop_front(&done) != NULL)
        continue;
}

static void make_submission(struct bench *b, size_t count, int32_t priority)
{
    static const struct str spec = STR_INIT("{\"handler\":\"noop\",\"queue\":\"default\"}");
    arena_reset(&b->arena);
    b->submit = (struct command){.kind = CMD_SUBMIT, .actor = STR("key:admin"), .arena = &b->arena};
    b->submit.submit.items = ARENA_ARRAY(&b->arena, struct submission, count);
    b->submit.submit.count = count;
    for (size_t i = 0; i < count; i++) {
        b->submit.submit.items[i] = (struct submission){
            .owner = STR("admin"),
            .spec = spec,
            .payload = STR("{\"n\":1}"),
            .rules = {.queue = b->queues[i % b->load->lanes],
                      .handler = STR("noop"),
                      .priority = priority,
                      .retry = retry_default},
        };
    }
}

/* Reports everything that the last poll brought, and asks for as much again. */
static void make_poll(struct bench *b, struct hand *h)
{
    const struct poll_reply *got = &h->poll.reply.poll;
    size_t count = got->lease_count;
    struct poll_result *results = calloc(count + 1, sizeof *results);
    for (size_t i = 0; i < count; i++) {
        results[i] = b->fails ? failure : (struct poll_result){.outcome = OUTCOME_SUCCEEDED};
        results[i].exec_id = got->leases[i].exec_id;
        results[i].token = got->leases[i].token;
    }
    arena_reset(&h->arena);
    struct poll_result *sent = ARENA_ARRAY(&h->arena, struct poll_result, count);
    memcpy(sent, results, count * sizeof *sent);
    free(results);
    h->poll = (struct command){.kind = CMD_POLL, .actor = STR("worker"), .arena = &h->arena};
    h->poll.poll = (struct poll){
        .worker_id = h->id,
        .seq = ++h->seq,
        .free = (uint32_t)(BATCH / b->load->workers),
        .results = sent,
        .result_count = count,
    };
    b->done += count;
}

/* queue: the only one it serves; NULL: all. */
static void hire_one(struct bench *b, struct hand *h, const struct str *queue)
{
    static const struct str handler = STR_INIT("noop");
    struct command *cmd = &h->poll;
    *cmd = (struct command){.kind = CMD_REGISTER, .arena = &h->arena};
    cmd->hello = (struct hello){
        .name = STR("bench"),
        .handlers = &handler,
        .handler_count = 1,
        .queues = queue,
        .queue_count = queue != NULL,
        .slots = BATCH,
    };
    run_turn(b, &cmd, 1);
    h->id = cmd->reply.worker_id;
    memset(cmd, 0, sizeof *cmd);
}

static void make_idle(struct bench *b, struct hand *h)
{
    static const struct str elsewhere = STR_INIT("elsewhere");
    struct command *cmd = &h->poll;
    hire_one(b, h, &elsewhere);
    make_poll(b, h);
    cmd->poll.wait_ms = INT64_MAX;
    run_turn(b, &cmd, 1);
}

static void hire(struct bench *b)
{
    const struct load *load = b->load;
    b->hands = calloc(load->workers + load->idle, sizeof *b->hands);
    for (size_t i = 0; i < load->workers; i++)
        hire_one(b, &b->hands[i], load->own ? &b->queues[load->lanes - 1 - i % load->lanes] : NULL);
    for (size_t i = 0; i < load->idle; i++)
        make_idle(b, &b->hands[load->workers + i]);
}

static void name_queues(struct bench *b)
{
    b->queues = ARENA_ARRAY(&b->names, struct str, b->load->lanes);
    for (size_t i = 0; i < b->load->lanes; i++)
        b->queues[i] = arena_printf(&b->names, "queue-%zu", i);
}

static void bench_free(struct bench *b)
{
    for (size_t i = 0; i < b->load->workers + b->load->idle; i++)
        arena_free(&b->hands[i].arena);
    free(b->hands);
    engine_free(b->engine);
    arena_free(&b->turn);
    arena_free(&b->arena);
    arena_free(&b->names);
}

static void bench_new(struct bench *b, const struct load *load)
{
    struct engine_options options = engine_defaults;
    *b = (struct bench){.load = load, .now_ms = INT64_C(1800000000000)};
    options.read_rules = read_rules;
    options.park_ms = INT64_C(1) << 40;
    options.breaker.percent = 0; /* failures are wanted here */
    b->engine = engine_new(&options);
    engine_load_begin(b->engine, (struct moment){.wall_ms = b->now_ms, .boot_ms = b->now_ms},
                      partition_all(1), 0, 0);
    name_queues(b);
    hire(b);
}

/* A turn 5 ms after the one before: so many are submitted, and all workers poll. */
static void work(struct bench *b, size_t submissions)
{
    struct command *commands[1 + WORKERS_MAX];
    size_t count = 0;
    b->now_ms += 5;
    make_submission(b, submissions, SPEC_PRIORITY_DEFAULT);
    if (submissions > 0)
        commands[count++] = &b->submit;
    for (size_t i = 0; i < b->load->workers; i++) {
        make_poll(b, &b->hands[i]);
        commands[count++] = &b->hands[i].poll;
    }
    run_turn(b, commands, count);
}

static void run_load(const struct load *load)
{
    struct bench b;
    struct command *submit = &b.submit;
    bench_new(&b, load);
    for (size_t i = 0; i < load->backlog; i += 10000) {
        make_submission(&b, 10000, 0);
        run_turn(&b, &submit, 1);
    }
    double start = seconds();
    double end = start;
    size_t turns = 0;
    while (end - start < SECONDS) {
        work(&b, BATCH);
        turns++;
        end = seconds();
    }
    printf("%-46s %8.0f jobs/s  %6.0f us a turn\n", load->what, (double)b.done / (end - start),
           (end - start) / (double)turns * 1e6);
    bench_free(&b);
}

/* ---- failures */

/* Of one attempt, in microseconds, over so many jobs: from their submission until the last attempt of
 * the last one is over. They are submitted no faster than the workers can make all the attempts. */
static double attempt_us(bool fails, size_t jobs, size_t attempts)
{
    struct bench b;
    bench_new(&b, &loads[0]);
    b.fails = fails;
    double start = seconds();
    for (size_t sent = 0; b.done < jobs * attempts;) {
        size_t more = sent < jobs ? BATCH / attempts : 0;
        work(&b, more);
        sent += more;
    }
    double us = (seconds() - start) / (double)(jobs * attempts) * 1e6;
    bench_free(&b);
    return us;
}

/* One after the other in small parts, so that whatever else the machine does meets both. */
static void compare_failures(void)
{
    enum { JOBS = 50000, ROUNDS = 5 };
    size_t attempts = 1 + (size_t)retry_default.max_retries;
    double success_us = 0;
    double failed_us = 0;
    for (int i = 0; i < ROUNDS; i++) {
        success_us += attempt_us(false, JOBS, 1) / ROUNDS;
        failed_us += attempt_us(true, JOBS, attempts) / ROUNDS;
    }
    printf("success_us %.3f\nfailed_attempt_us %.3f\nfailed_by_success %.3f\n", success_us,
           failed_us, failed_us / success_us);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "failures") == 0) {
        compare_failures();
        return 0;
    }
    long only = argc > 1 ? strtol(argv[1], NULL, 10) : -1; /* for a profiler: one load */
    for (size_t i = 0; i < COUNT_OF(loads); i++) {
        if (only < 0 || only == (long)i)
            run_load(&loads[i]);
    }
    return 0;
}

/* main.c - seeds from the command line.
 *
 *   sim --seeds=N         days 1 to N, and the ones that once found something
 *   sim --seeds=A-B       days A to B
 *   sim --seed=N          one day, with a trace
 *   sim --jobs=N          so many processes (1)
 *   sim --plant=NAME      with a planted bug (base/plant.h), where they are compiled in
 *   sim --plants          every planted bug must be caught within --seeds
 *   sim --twice           every day twice: it must be the same day
 *   sim --sqlite          every day in SQLite, and then in memory: it must be the same day
 *   sim --cluster         with three servers
 *   sim --digest          prints a number for all that was decided (digest.h)
 */
#include "base/log.h"
#include "base/opts.h"
#include "coverage.h"
#include "plants.h"
#include "world.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Days that found a bug which was then mended. */
static const uint64_t known_seeds[] = {1};

enum { COVERAGE_SEEDS_MIN = 1000 }; /* so many days should have seen everything */

struct options {
    uint64_t first;
    uint64_t last;
    uint64_t jobs;
    bool traced;
    bool plants;
    bool twice;
    bool sqlite;
    bool cluster;
    bool digest;
};

static bool parse_seeds(struct str text, struct options *o)
{
    struct str rest = text;
    struct str first = str_cut(&rest, '-');
    if (rest.ptr == NULL) {
        o->first = 1;
        return str_to_u64(first, &o->last);
    }
    return str_to_u64(first, &o->first) && str_to_u64(rest, &o->last);
}

static bool is_flag(struct str arg, struct str name, bool *ret_flag)
{
    bool is = str_eq(arg, name);
    *ret_flag |= is;
    return is;
}

static bool parse_option(struct str arg, struct options *o)
{
    struct str value = arg;
    struct str name = str_cut(&value, '=');
    if (str_eq(name, STR("--seeds")))
        return parse_seeds(value, o);
    if (str_eq(name, STR("--jobs")))
        return str_to_u64(value, &o->jobs) && o->jobs > 0;
    if (str_eq(name, STR("--plant")))
        return plant_choose(value.ptr);
    if (str_eq(name, STR("--seed"))) {
        o->traced = true;
        return parse_seeds(value, o) && (o->first = o->last, true);
    }
    return is_flag(arg, STR("--plants"), &o->plants) || is_flag(arg, STR("--twice"), &o->twice) ||
           is_flag(arg, STR("--sqlite"), &o->sqlite) ||
           is_flag(arg, STR("--cluster"), &o->cluster) || is_flag(arg, STR("--digest"), &o->digest);
}

/* Of all days, whichever process has lived them. */
static _Atomic uint64_t *digests;

static void begin_digests(void)
{
    digests =
        mmap(NULL, sizeof *digests, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert(digests != MAP_FAILED);
}

static void live(uint64_t seed, const struct options *o)
{
    struct day day = {.seed = seed,
                      .traced = o->traced,
                      .sqlite = o->sqlite,
                      .cluster = o->cluster,
                      .digested = o->digest};
    uint64_t digest = world_live(&day);
    *digests += digest;
    day.traced = day.sqlite = false;
    if ((o->twice || o->sqlite) && world_live(&day) != digest) {
        printf("broken promise: seed %" PRIu64 " gave two different days%s\n", seed,
               o->sqlite ? ", one in SQLite and one in memory" : "");
        fflush(stdout);
        _exit(1);
    }
}

/* Every o->jobs-th seed from first + share on. */
static void live_share(const struct options *o, uint64_t share)
{
    for (size_t i = 0; share == 0 && !o->traced && !o->cluster && i < COUNT_OF(known_seeds); i++)
        live(known_seeds[i], o);
    for (uint64_t seed = o->first + share; seed <= o->last; seed += o->jobs)
        live(seed, o);
}

static int live_all(const struct options *o)
{
    int failed = 0;
    fflush(stdout);
    for (uint64_t share = 1; share < o->jobs; share++) {
        if (fork() == 0) {
            live_share(o, share);
            fflush(stdout);
            _exit(0);
        }
    }
    live_share(o, 0);
    for (int status; wait(&status) > 0;)
        failed |= status != 0;
    if (!failed && o->last - o->first >= COVERAGE_SEEDS_MIN && plant_name()[0] == '\0')
        failed = !coverage_is_full(o->cluster);
    if (!failed && o->digest)
        printf("digest %016" PRIx64 "\n", *digests);
    if (!failed && !o->traced)
        printf("%" PRIu64 " days lived, every promise kept\n", o->last - o->first + 1);
    return failed;
}

/* ---- planted bugs */

/* What the child says when it is caught: the first two lines. */
static bool was_caught(const char *name, bool cluster, const struct options *o)
{
    int ends[2];
    char text[1024] = "";
    if (pipe(ends) != 0)
        return false;
    fflush(stdout);
    if (fork() == 0) {
        struct options alone = *o;
        alone.jobs = 1;
        alone.cluster = cluster;
        dup2(ends[1], STDOUT_FILENO);
        alarm(400); /* few days show some of them, and others may use the processors meanwhile */
        plant_choose(name);
        live_share(&alone, 0);
        _exit(0);
    }
    close(ends[1]);
    size_t len = 0;
    for (ssize_t got;
         len < sizeof text - 1 && (got = read(ends[0], text + len, sizeof text - 1 - len)) > 0;)
        len += (size_t)got;
    close(ends[0]);
    int status;
    wait(&status);
    bool caught = WIFEXITED(status) && WEXITSTATUS(status) == 1;
    struct str rest = str_of(text, len);
    struct str promise = str_cut(&rest, '\n');
    printf("%s %-28s %.*s\n", caught ? "[       OK ]" : "[  FAILED  ]", name, STR_ARG(promise));
    if (caught)
        printf("             %.*s\n", STR_ARG(str_cut(&rest, ';')));
    return caught;
}

static bool was_good(void)
{
    int status;
    return wait(&status) > 0 && status == 0;
}

/* Each in a process of its own, o->jobs at a time. */
static int catch_all(const struct options *o)
{
    size_t caught = 0;
    size_t begun = 0;
    const char *name;
    while ((name = plant_at(begun)) != NULL || begun == 0 || plant_at(begun - 1) != NULL) {
        bool cluster = name == NULL || plant_takes_many(begun);
        if (begun >= o->jobs)
            caught += was_good();
        fflush(stdout);
        if (fork() == 0) { /* the last one is there for many servers, too */
            bool good = was_caught(name != NULL ? name : "epoch_unchecked", cluster, o);
            fflush(stdout);
            _exit(!good);
        }
        begun++;
    }
    for (size_t i = 0; i < o->jobs && i < begun; i++)
        caught += was_good();
    printf("%zu passed, %zu failed\n", caught, begun - caught);
    return caught != begun;
}

int main(int argc, char **argv)
{
    struct options o = {.first = 1, .last = 1000, .jobs = 1};
    coverage_begin();
    begin_digests();
    log_set_level((enum log_level)(LOG_ERROR + 1)); /* faults are loud, and all on purpose */
    for (int i = 1; i < argc; i++) {
        if (!parse_option(str_c(argv[i]), &o)) {
            fprintf(stderr, "sim: what is '%s'? The head of tests/sim/main.c tells.\n", argv[i]);
            return 2;
        }
    }
    return o.plants ? catch_all(&o) : live_all(&o);
}

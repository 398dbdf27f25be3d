/* The power fails at every write and every sync of a day, and the store keeps its promises.
 *
 * The day is lived once on the memory store, which says what each step should leave behind. Then
 * it is lived on SQLite on a disk that forgets, again and again, and the power fails each time at
 * another operation of the disk, sometimes once more while the store recovers from that. What is
 * found afterwards must be the whole of every step that was acknowledged and, of the one that was
 * under way, all or nothing.
 *
 *   BELFRY_SEED=n    another day for the dice (1)
 *   BELFRY_POWER=n   every n-th operation (11); 1 is all of them
 *   BELFRY_ROUNDS=n  seeds in a row (1) */
#include "base/log.h"

#include "base/test/test.h"
#include "day.h"
#include "dump.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/temp_dir_test.h"
#include "vfs.h"

#include <inttypes.h>

enum { STEPS_MAX = 128, DUMP_BYTES_MAX = 1 << 20, RECOVERY_OPS = 40 };

/* What each step leaves, as the memory store says; the first is before all steps. */
static struct buf story[STEPS_MAX + 1];
static uint64_t story_turns[STEPS_MAX + 1];

static uint64_t setting(const char *name, uint64_t otherwise)
{
    uint64_t value = otherwise;
    const char *given = getenv(name);
    if (given != NULL)
        assert_true(str_to_u64(str_c(given), &value) && value > 0);
    return value;
}

/* ---- the story */

static uint64_t newest_turn(const struct day *day)
{
    enum settled settled = SETTLED_KEPT;
    uint64_t turn = 0;
    while (settled == SETTLED_KEPT)
        assert_int_equal(
            day->store->ops->settle(day->store, &day->turn.owned, ++turn, &settled, NULL), RC_OK);
    return turn - 1;
}

static void write_down(const struct day *day)
{
    story[day->done] = BUF(DUMP_BYTES_MAX);
    dump_store(day->store, &day->turn.owned, day_keys, day_key_count, &story[day->done]);
    story_turns[day->done] = newest_turn(day);
}

static int tell_story(void **state)
{
    struct day day;
    (void)state;
    assert_true(day_steps() <= STEPS_MAX);
    assert_int_equal(day_begin(&day, &(struct day_place){0}), RC_OK);
    write_down(&day);
    while (day.done < day_steps()) {
        assert_int_equal(day_step(&day), RC_OK);
        write_down(&day);
    }
    day_end(&day);
    return 0;
}

static int forget_story(void **state)
{
    (void)state;
    for (size_t i = 0; i <= day_steps(); i++)
        buf_free(&story[i]);
    return 0;
}

/* ---- one life, and what is left of it */

struct life {
    struct day_place place;
    uint64_t seed;
    uint64_t cut_at; /* operation of the disk */
    bool lies;       /* its syncs do nothing */
};

/* What was promised before the power failed, and what is true now. */
struct aftermath {
    size_t done;
    size_t synced;
    uint64_t epoch;
    uint64_t newest_id;
    uint64_t log_chunks;
    uint64_t first_exec;
    char complaint[512]; /* empty: all promises were kept */
};

static bool complain(struct aftermath *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool complain(struct aftermath *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(a->complaint, sizeof a->complaint, format, args);
    va_end(args);
    return false;
}

static void remember(struct aftermath *a, const struct day *day)
{
    a->done = day->done;
    a->synced = day->synced;
    a->epoch = day->epoch;
    a->newest_id = day->newest_id;
    a->log_chunks = day->log_chunks;
    a->first_exec = day->execs[0];
}

static int first_text(void *arg, int count, char **values, char **names)
{
    (void)names;
    if (count > 0 && ((char *)arg)[0] == '\0')
        snprintf(arg, 128, "%s", values[0]);
    return 0;
}

static bool is_sound(struct aftermath *a, const char *path)
{
    char said[128] = "";
    sqlite3 *handle;
    assert_int_equal(sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    int code = sqlite3_exec(handle, "PRAGMA integrity_check", first_text, said, NULL);
    sqlite3_close(handle);
    if (code == SQLITE_OK && strcmp(said, "ok") == 0)
        return true;
    return complain(a, "%s is damaged: %s (%d)", path, said, code);
}

/* The step after which the store looks like this, or -1. */
static int find_in_story(const struct buf *dump, size_t from, size_t to)
{
    for (size_t i = to + 1; i-- > from;) {
        if (str_eq(buf_str(dump), buf_str(&story[i])))
            return (int)i;
    }
    return -1;
}

static bool content_is_right(struct aftermath *a, const struct life *life, const struct day *day,
                             size_t *ret_step)
{
    bool full = life->place.durability == DURABILITY_FULL;
    size_t last = a->done < day_steps() ? a->done + 1 : a->done; /* one may be under way */
    struct buf dump = BUF(DUMP_BYTES_MAX);
    dump_store(day->store, &day->turn.owned, day_keys, day_key_count, &dump);
    int step = find_in_story(&dump, full ? a->done : a->synced, last);
    int lost = step >= 0 ? step : find_in_story(&dump, 0, last);
    buf_free(&dump);
    *ret_step = step >= 0 ? (size_t)step : 0;
    if (step >= 0)
        return true;
    if (lost >= 0)
        return complain(a, "%zu steps were acknowledged, the store is back at %d", a->done, lost);
    return complain(a, "after %zu steps the store holds what no step left", a->done);
}

static bool numbers_grow(struct aftermath *a, const struct life *life, const struct day *day,
                         size_t step)
{
    const struct ownership *own = &day->turn.owned;
    if (own->turn_floor != story_turns[step])
        return complain(a, "the turn is %" PRIu64 " after step %zu", own->turn_floor, step);
    if (life->place.durability != DURABILITY_FULL)
        return true; /* who was told of an id or an epoch that is gone lost power, too */
    if (own->epochs[0] <= a->epoch)
        return complain(a, "epoch %" PRIu64 " was given out twice", own->epochs[0]);
    if (own->id_floor < a->newest_id)
        return complain(a, "id %" PRIu64 " could be given out twice", a->newest_id);
    return true;
}

/* Output is no promise, but what is there is the beginning of it, in whole appends. */
static bool output_is_a_beginning(struct aftermath *a, struct day *day)
{
    struct log_chunk *chunks;
    size_t count;
    enum rc rc = day->logs->ops->read(day->logs, a->first_exec, (struct log_place){0}, 1 << 20,
                                      &day->arena, &chunks, &count, &day->err);
    if (rc != RC_OK)
        return complain(a, "output cannot be read: %s", day->err.text);
    for (size_t i = 0; i < count; i++) {
        if (chunks[i].seq != i + 1 || chunks[i].bytes.len != 700)
            return complain(a, "output has a hole before chunk %" PRIu64, chunks[i].seq);
    }
    if (count % 3 != 0 || count > a->log_chunks + 3)
        return complain(a, "%zu chunks of output, %" PRIu64 " were kept", count, a->log_chunks);
    return true;
}

static bool recover(struct aftermath *a, const struct life *life, struct day *day)
{
    enum rc rc = day_begin(day, &life->place);
    return rc == RC_OK || complain(a, "it cannot be opened again: %s", day->err.text);
}

/* The store takes commits again, and keeps them: the power fails right after the answer. */
static bool goes_on(struct aftermath *a, const struct life *life, struct disk *disk,
                    struct day *day, struct rng *rng)
{
    uint64_t job_id;
    struct job_rec job;
    struct reader *reader;
    day->now_ms += INT64_C(86400000);
    if (day_submit_one(day, &job_id) != RC_OK)
        return complain(a, "it takes no commits: %s", day->err.text);
    if (life->place.durability != DURABILITY_FULL)
        return true;
    disk_cut(disk);
    day_end(day);
    disk_reboot(disk, rng);
    if (!recover(a, life, day))
        return false;
    assert_int_equal(day->store->ops->reader(day->store, &reader, &day->err), RC_OK);
    enum rc rc = reader->ops->job(reader, job_id, &day->arena, &job, &day->err);
    reader->ops->close(reader);
    return rc == RC_OK || complain(a, "a job of after the recovery was lost");
}

static void live(struct aftermath *a, const struct life *life)
{
    struct day day;
    enum rc rc = day_begin(&day, &life->place);
    while (rc == RC_OK && day.done < day_steps())
        rc = day_step(&day);
    remember(a, &day);
    day_end(&day);
}

/* Every second time the power fails once more, while the store is being opened. */
static void reboot(const struct life *life, struct disk *disk, struct rng *rng)
{
    struct day day;
    disk_reboot(disk, rng);
    if (rng_below(rng, 2) == 0)
        return;
    disk_cut_at(disk, disk_ops(disk) + 1 + rng_below(rng, RECOVERY_OPS));
    (void)day_begin(&day, &life->place);
    disk_cut(disk);
    day_end(&day);
    disk_reboot(disk, rng);
}

static void check(struct aftermath *a, const struct life *life, struct disk *disk, struct rng *rng)
{
    struct day day = {0};
    size_t step;
    char db[600];
    char logs[600];
    snprintf(db, sizeof db, "%s/belfry.db", life->place.dir);
    snprintf(logs, sizeof logs, "%s/logs.db", life->place.dir);
    if (recover(a, life, &day) && is_sound(a, db) && is_sound(a, logs) &&
        content_is_right(a, life, &day, &step) && numbers_grow(a, life, &day, step) &&
        output_is_a_beginning(a, &day))
        goes_on(a, life, disk, &day, rng);
    day_end(&day);
}

/* Lives a day whose power fails once, and says what is wrong afterwards. *ret_ops, when asked for,
 * is how many operations there were. */
static struct aftermath survive(const struct life *life, uint64_t *ret_ops)
{
    struct aftermath a = {0};
    struct disk *disk = disk_new();
    struct rng rng = {.state = life->seed ^ life->cut_at << 20};
    vfs_mount(disk, life->seed);
    disk_cut_at(disk, life->cut_at);
    if (life->lies)
        disk_make_liar(disk);
    live(&a, life);
    if (ret_ops != NULL)
        *ret_ops = disk_ops(disk);
    reboot(life, disk, &rng);
    check(&a, life, disk, &rng);
    vfs_unmount();
    disk_free(disk);
    return a;
}

/* ---- tests */

static uint64_t count_ops(struct life life)
{
    uint64_t ops;
    life.cut_at = 0;
    struct aftermath a = survive(&life, &ops);
    assert_string_equal(a.complaint, "");
    assert_int_equal(a.done, day_steps());
    return ops;
}

static void fail_life(const struct life *life, const struct aftermath *a)
{
    fail_msg("the power failed at operation %" PRIu64 " (BELFRY_SEED=%" PRIu64 "): %s",
             life->cut_at, life->seed, a->complaint);
}

static void cut_everywhere(struct life life)
{
    uint64_t stride = setting("BELFRY_POWER", 11);
    uint64_t rounds = setting("BELFRY_ROUNDS", 1);
    uint64_t cuts = 0;
    uint64_t ops = 0;
    life.seed = setting("BELFRY_SEED", 1);
    for (uint64_t round = 0; round < rounds; round++, life.seed++) {
        ops = count_ops(life);
        for (uint64_t at = 1 + life.seed % stride; at <= ops; at += stride, cuts++) {
            life.cut_at = at;
            struct aftermath a = survive(&life, NULL);
            if (a.complaint[0] != '\0')
                fail_life(&life, &a);
        }
    }
    print_message("%" PRIu64 " cuts, %" PRIu64 " operations a day\n", cuts, ops);
}

static int make_dir(void **state)
{
    *state = temp_dir_new();
    return 0;
}

static int remove_dir(void **state)
{
    temp_dir_free(*state);
    return 0;
}

TEST(what_was_acknowledged_survives_a_power_cut_anywhere, make_dir, remove_dir)
{
    cut_everywhere((struct life){.place = {.dir = *state, .durability = DURABILITY_FULL}});
}

TEST(with_normal_durability_a_beginning_survives, make_dir, remove_dir)
{
    cut_everywhere((struct life){.place = {.dir = *state, .durability = DURABILITY_NORMAL}});
}

/* How many of a handful of cuts are found to have broken a promise. */
static size_t count_broken(struct life life)
{
    size_t broken = 0;
    life.seed = 1;
    for (life.cut_at = 300; life.cut_at <= 750; life.cut_at += 50) {
        struct aftermath a = survive(&life, NULL);
        broken += a.complaint[0] != '\0';
    }
    return broken;
}

TEST(a_store_that_does_not_sync_is_found_out, make_dir, remove_dir)
{
    struct life life = {.place = {.dir = *state, .careless = true}};
    assert_true(count_broken(life) > 2);
}

TEST(a_disk_that_lies_about_syncs_is_found_out, make_dir, remove_dir)
{
    struct life life = {.place = {.dir = *state}, .lies = true};
    assert_true(count_broken(life) > 2);
}

TEST(the_same_seed_gives_the_same_crash, make_dir, remove_dir)
{
    struct life life = {.place = {.dir = *state}, .lies = true, .seed = 5, .cut_at = 700};
    struct aftermath first = survive(&life, NULL);
    struct aftermath second = survive(&life, NULL);
    assert_string_not_equal(first.complaint, "");
    assert_string_equal(first.complaint, second.complaint);
}

static int begin(void **state)
{
    log_set_level(LOG_ERROR);
    return tell_story(state);
}

TEST_GROUP(begin, forget_story)

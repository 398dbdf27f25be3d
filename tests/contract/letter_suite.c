/* Dead letters. */
#include "base/vec.h"
#include "deaths.h"
#include "loaded.h"

static void assert_same_letter(const struct letter_rec *got, const struct letter_rec *want)
{
    assert_int_equal(letter_order(got->place, want->place), 0);
    assert_int_equal(got->job_id, want->job_id);
    assert_int_equal(got->state, want->state);
    assert_str(got->queue, want->queue);
    assert_str(got->name, want->name);
    assert_str(got->owner, STR("ada"));
    assert_int_equal(got->reason, want->reason);
    assert_int_equal(got->class, want->class);
    assert_int_equal(got->fingerprint, want->fingerprint);
    assert_str(got->line, want->line);
    assert_str(got->error, want->error);
    assert_int_equal(got->attempts, want->attempts);
    assert_int_equal(got->lost, want->lost);
}

static enum rc read_letter(struct world *w, uint64_t exec_id, struct letter_rec *ret_letter)
{
    return w->reader->ops->letter(w->reader, exec_id, &w->arena, ret_letter, &w->err);
}

/* ---- one letter */

PROMISE(a_letter_is_kept_with_its_execution_and_has_its_jobs_owner)
{
    struct world *w = *state;
    struct death d = kill_one(w, T0, "mail", 17);
    struct letter_rec letter;
    assert_rc(read_letter(w, d.exec.exec.id, &letter), RC_OK);
    assert_same_letter(&letter, &d.letter);
    world_reopen(w);
    assert_rc(read_letter(w, d.exec.exec.id, &letter), RC_OK);
    assert_same_letter(&letter, &d.letter);
    struct question q = {.kind = ASK_EXEC, .id = d.exec.exec.id};
    world_admit(w, &q);
    assert_int_equal(q.answer.letter_count, 1);
    assert_same_letter(q.answer.letters, &d.letter);
    w->store->ops->abort(w->store);
}

PROMISE(a_letter_that_is_gone_leaves_its_execution)
{
    struct world *w = *state;
    struct death d = kill_one(w, T0, "mail", 17);
    struct letter_rec letter;
    world_commit(w, (struct delta){.letters_gone = &d.letter.place, .letter_gone_count = 1});
    assert_rc(read_letter(w, d.exec.exec.id, &letter), RC_NOT_FOUND);
    assert_true(exec_exists(w, d.exec.exec.id));
    struct question q = {.kind = ASK_EXEC, .id = d.exec.exec.id};
    world_admit(w, &q);
    assert_non_null(q.answer.exec);
    assert_int_equal(q.answer.letter_count, 0);
    w->store->ops->abort(w->store);
}

/* ---- lists */

struct taken {
    struct letter_place places[64];
    size_t count;
    size_t max;
};

static bool take(void *arg, const struct letter_rec *letter)
{
    struct taken *t = arg;
    if (t->count == t->max)
        return false;
    t->places[t->count++] = letter->place;
    return true;
}

static struct letter_place list(struct world *w, struct letter_filter filter,
                                struct letter_place before, size_t scan_max, struct taken *t)
{
    struct letter_place next;
    assert_rc(
        w->reader->ops->letters(w->reader, &filter, before, scan_max, take, t, &next, &w->err),
        RC_OK);
    return next;
}

/* Died at T0, T0+1, …; two of them at the same moment. */
static size_t many(struct world *w, struct letter_place *ret_places)
{
    size_t count = 0;
    for (int i = 0; i < 9; i++) {
        struct death d = kill_one(w, T0 + i - (i == 4), i % 3 == 0 ? "mail" : "db", (uint64_t)i);
        ret_places[count++] = d.letter.place;
    }
    return count;
}

PROMISE(letters_are_listed_from_the_newest_page_by_page)
{
    struct world *w = *state;
    struct letter_place places[16];
    size_t count = many(w, places);
    for (size_t limit = 1; limit < count + 2; limit++) {
        struct letter_place before = {0};
        size_t at = count;
        do {
            struct taken t = {.max = limit};
            before = list(w, (struct letter_filter){0}, before, 1000, &t);
            for (size_t i = 0; i < t.count; i++)
                assert_int_equal(letter_order(t.places[i], places[--at]), 0);
        } while (before.exec_id != 0);
        assert_int_equal(at, 0);
    }
}

PROMISE(a_page_that_has_looked_at_enough_ends_early)
{
    struct world *w = *state;
    struct letter_place places[16];
    size_t count = many(w, places);
    struct letter_place before = {0};
    struct taken t = {.max = 64};
    size_t pages = 0;
    do {
        before = list(w, (struct letter_filter){.class = FAILURE_DISK}, before, 2, &t);
        pages++;
    } while (before.exec_id != 0);
    assert_int_equal(pages, (count + 1) / 2);
    assert_int_equal(t.count, 0);
}

PROMISE(filters_show_what_fits)
{
    struct world *w = *state;
    struct letter_place places[16];
    many(w, places);
    const struct {
        struct letter_filter filter;
        size_t count;
    } cases[] = {
        {{.queue = STR("db")}, 6},       {{.fingerprint = 5}, 1},
        {{.class = FAILURE_DISK}, 0},    {{.class = FAILURE_NETWORK, .queue = STR("mail")}, 3},
        {{.died_after_ms = T0 + 3}, 6}, /* two of them at T0 + 3 */
        {{.died_before_ms = T0 + 3}, 3}, {{.name = STR("nobody")}, 0},
        {{.job_id = 4711}, 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct taken t = {.max = 64};
        list(w, cases[i].filter, (struct letter_place){0}, 1000, &t);
        assert_int_equal(t.count, cases[i].count);
    }
}

/* In pages of one, and of one that is looked at: nothing is left out, and nothing shown twice. */
PROMISE(pages_of_what_fits_are_as_those_of_all)
{
    struct world *w = *state;
    struct letter_place places[16];
    size_t count = many(w, places);
    const struct letter_filter filters[] = {
        {.queue = STR("db")},
        {.queue = STR("mail"), .class = FAILURE_NETWORK},
        {.fingerprint = 5},
        {.name = STR("nobody")},
        {.died_after_ms = T0 + 1, .died_before_ms = T0 + 7},
        {.queue = STR("db"), .died_after_ms = T0 + 3, .died_before_ms = T0 + 8},
    };
    for (size_t i = 0; i < COUNT_OF(filters); i++) {
        struct taken whole = {.max = 64};
        struct taken parts = {.max = 64};
        struct letter_place before = {0};
        list(w, filters[i], before, 1000, &whole);
        assert_true(whole.count < count);
        do {
            before = list(w, filters[i], before, 1, &parts);
        } while (before.exec_id != 0);
        assert_int_equal(parts.count, whole.count);
        for (size_t j = 0; j < whole.count; j++)
            assert_int_equal(letter_order(parts.places[j], whole.places[j]), 0);
    }
}

static struct letter_groups group(struct world *w, struct letter_filter filter, size_t scan_max,
                                  size_t max)
{
    struct letter_groups groups;
    assert_rc(w->reader->ops->letter_groups(w->reader, &filter, scan_max, max, &w->arena, &groups,
                                            &w->err),
              RC_OK);
    return groups;
}

PROMISE(letters_of_one_kind_are_a_group)
{
    struct world *w = *state;
    struct letter_place last = {0};
    for (int i = 0; i < 7; i++) { /* the two of the end at one moment */
        struct death d = kill_one(w, T0 + (i < 6 ? i : 5), i % 2 ? "mail" : "db", i < 4 ? 7 : 8);
        last = d.letter.place;
    }
    struct letter_groups all = group(w, (struct letter_filter){0}, 100, 10);
    assert_true(all.complete && all.count == 2);
    assert_true(all.groups[0].fingerprint == 7 && all.groups[0].count == 4);
    assert_true(all.groups[0].newest.died_ms == T0 + 3 && all.groups[0].oldest_ms == T0);
    assert_true(all.groups[1].fingerprint == 8 && all.groups[1].count == 3);
    assert_int_equal(letter_order(all.groups[1].newest, last), 0);
    assert_int_equal(all.groups[1].class, FAILURE_NETWORK);
    assert_str(all.groups[1].line, STR("connection refused by #"));

    assert_int_equal(group(w, (struct letter_filter){0}, 100, 1).count, 1);
    struct letter_groups newest = group(w, (struct letter_filter){0}, 3, 10);
    assert_true(!newest.complete && newest.count == 1 && newest.groups[0].fingerprint == 8);
    assert_true(group(w, (struct letter_filter){0}, 7, 10).complete);
    struct letter_groups mail = group(w, (struct letter_filter){.queue = STR("mail")}, 100, 10);
    assert_true(mail.count == 2 && mail.groups[0].count == 2 && mail.groups[1].count == 1);
    assert_int_equal(mail.groups[1].newest.died_ms, T0 + 5);
    struct letter_filter span = {.died_after_ms = T0 + 1, .died_before_ms = T0 + 3};
    struct letter_groups then = group(w, span, 2, 10);
    assert_true(then.complete && then.count == 1 && then.groups[0].count == 2);
    assert_int_equal(group(w, (struct letter_filter){.class = FAILURE_DISK}, 9, 9).count, 0);
}

PROMISE(a_turn_is_told_letters_from_the_oldest_behind_a_place)
{
    struct world *w = *state;
    struct letter_place places[16];
    size_t count = many(w, places);
    struct letter_place at = {0};
    size_t told = 0;
    for (;;) {
        struct question q = {.kind = ASK_LETTERS, .place = at, .until_ms = T0 + 7, .limit = 2};
        world_admit(w, &q);
        for (size_t i = 0; i < q.answer.letter_count; i++)
            assert_int_equal(letter_order(q.answer.letters[i].place, places[told++]), 0);
        at = q.answer.place;
        if (!q.answer.more)
            break;
    }
    assert_int_equal(told, count - 1); /* the last one died later */
    struct question q = {
        .kind = ASK_LETTERS, .filter.queue = STR("mail"), .until_ms = T0 + 7, .limit = 2};
    world_admit(w, &q);
    assert_int_equal(q.answer.letter_count, 2);
    assert_true(q.answer.more);
    assert_int_equal(letter_order(q.answer.place, places[3]), 0);
    w->store->ops->abort(w->store);
}

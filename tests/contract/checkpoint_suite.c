/* Checkpoints: the newest of each execution comes back as it was given, until it is taken back. */
#include "world.h"

#include <string.h>

static struct logs *open_logs(struct world *w)
{
    struct logs *logs;
    assert_rc(w->store->ops->logs(w->store, &logs, &w->err), RC_OK);
    return logs;
}

static void put(struct world *w, struct logs *logs, uint64_t exec_id, uint64_t token,
                struct str bytes)
{
    struct checkpoint one = {
        .exec_id = exec_id, .token = token, .at_ms = T0 + (int64_t)token, .bytes = bytes};
    assert_rc(logs->ops->put_checkpoint(logs, &one, &w->err), RC_OK);
}

static struct checkpoint get(struct world *w, struct logs *logs, uint64_t exec_id)
{
    struct checkpoint got;
    assert_rc(logs->ops->checkpoint(logs, exec_id, &w->arena, &got, &w->err), RC_OK);
    return got;
}

static bool has_none(struct world *w, struct logs *logs, uint64_t exec_id)
{
    struct checkpoint got;
    enum rc rc = logs->ops->checkpoint(logs, exec_id, &w->arena, &got, &w->err);
    if (rc != RC_OK)
        assert_rc(rc, RC_NOT_FOUND);
    return rc == RC_NOT_FOUND;
}

PROMISE(a_checkpoint_comes_back_byte_for_byte)
{
    struct world *w = *state;
    struct logs *logs = open_logs(w);
    size_t len = 1 << 20;
    char *large = arena_bytes(&w->arena, len);
    for (size_t i = 0; i < len; i++)
        large[i] = (char)rng_below(&w->rng, 256);
    put(w, logs, 7, 1, STR("\0\xff odd '; --"));
    put(w, logs, 8, 2, str_of(large, len));
    assert_str(get(w, logs, 7).bytes, STR("\0\xff odd '; --"));
    struct checkpoint got = get(w, logs, 8);
    assert_str(got.bytes, str_of(large, len));
    assert_int_equal(got.exec_id, 8);
    assert_int_equal(got.token, 2);
    assert_int_equal(got.at_ms, T0 + 2);
    assert_true(has_none(w, logs, 9));
    logs->ops->close(logs);
}

PROMISE(a_checkpoint_outlives_the_store_that_took_it)
{
    struct world *w = *state;
    struct logs *logs = open_logs(w);
    put(w, logs, 7, 1, STR("kept"));
    logs->ops->close(logs);
    world_reopen(w);
    logs = open_logs(w);
    assert_str(get(w, logs, 7).bytes, STR("kept"));
    logs->ops->close(logs);
}

PROMISE(a_newer_one_takes_the_place_of_the_older)
{
    struct world *w = *state;
    struct logs *logs = open_logs(w);
    put(w, logs, 7, 2, STR("first"));
    put(w, logs, 7, 2, STR("second"));
    assert_str(get(w, logs, 7).bytes, STR("second"));
    put(w, logs, 7, 3, STR("third"));
    assert_str(get(w, logs, 7).bytes, STR("third"));
    logs->ops->close(logs);
}

PROMISE(an_older_token_changes_nothing)
{
    struct world *w = *state;
    struct logs *logs = open_logs(w);
    put(w, logs, 7, 3, STR("new"));
    put(w, logs, 7, 2, STR("old"));
    put(w, logs, 7, 2, STR(""));
    assert_str(get(w, logs, 7).bytes, STR("new"));
    assert_int_equal(get(w, logs, 7).token, 3);
    logs->ops->close(logs);
}

PROMISE(an_empty_one_is_none_and_its_token_counts)
{
    struct world *w = *state;
    struct logs *logs = open_logs(w);
    put(w, logs, 7, 2, STR("here"));
    put(w, logs, 7, 3, STR(""));
    assert_true(has_none(w, logs, 7));
    put(w, logs, 7, 2, STR("late"));
    assert_true(has_none(w, logs, 7));
    put(w, logs, 7, 3, STR("again"));
    assert_str(get(w, logs, 7).bytes, STR("again"));
    logs->ops->close(logs);
}

PROMISE(what_is_dropped_is_forgotten_with_its_token)
{
    struct world *w = *state;
    struct logs *logs = open_logs(w);
    put(w, logs, 7, 3, STR("here"));
    put(w, logs, 8, 3, STR("stays"));
    assert_rc(logs->ops->drop_checkpoint(logs, 7, &w->err), RC_OK);
    assert_rc(logs->ops->drop_checkpoint(logs, 9, &w->err), RC_OK); /* there was none */
    assert_true(has_none(w, logs, 7));
    assert_false(has_none(w, logs, 8));
    put(w, logs, 7, 1, STR("anew"));
    assert_str(get(w, logs, 7).bytes, STR("anew"));
    logs->ops->close(logs);
}

PROMISE(all_are_listed_in_pages_by_id)
{
    struct world *w = *state;
    struct logs *logs = open_logs(w);
    for (uint64_t id = 10; id > 0; id--)
        put(w, logs, id * 3, id, id == 5 ? STR("") : STR("x"));
    uint64_t after = 0;
    uint64_t seen = 0;
    for (;;) {
        struct checkpoint *got;
        size_t count;
        assert_rc(logs->ops->checkpoints(logs, after, 4, &w->arena, &got, &count, &w->err), RC_OK);
        assert_true(count <= 4);
        if (count == 0)
            break;
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(got[i].exec_id, ++seen * 3);
            assert_int_equal(got[i].at_ms, T0 + (int64_t)seen);
            assert_int_equal(got[i].bytes.len, 0);
        }
        after = got[count - 1].exec_id;
    }
    assert_int_equal(seen, 10);
    logs->ops->close(logs);
}

PROMISE(trimming_output_leaves_checkpoints_alone)
{
    struct world *w = *state;
    struct logs *logs = open_logs(w);
    size_t count;
    put(w, logs, 7, 1, STR("kept"));
    assert_rc(logs->ops->trim(logs, INT64_MAX, 100, &count, &w->err), RC_OK);
    assert_str(get(w, logs, 7).bytes, STR("kept"));
    logs->ops->close(logs);
}

/* Output of commands: append twice, read in order, trim by time. */
#include "world.h"

static struct logs *open_logs(struct world *w)
{
    struct logs *logs;
    assert_rc(w->store->ops->logs(w->store, &logs, &w->err), RC_OK);
    return logs;
}

static struct log_chunk chunk(uint64_t exec_id, uint64_t token, uint64_t seq, struct str bytes)
{
    return (struct log_chunk){.exec_id = exec_id,
                              .token = token,
                              .seq = seq,
                              .attempt = 1,
                              .stream = LOG_STDOUT,
                              .at_ms = T0 + (int64_t)seq,
                              .bytes = bytes};
}

static size_t read_log(struct world *w, struct logs *logs, uint64_t exec_id, struct log_place after,
                       size_t bytes_max, struct log_chunk **ret_chunks)
{
    size_t count;
    assert_rc(
        logs->ops->read(logs, exec_id, after, bytes_max, &w->arena, ret_chunks, &count, &w->err),
        RC_OK);
    return count;
}

PROMISE(output_comes_back_in_order)
{
    struct world *w = *state;
    struct logs *logs = open_logs(w);
    struct log_chunk given[] = {
        chunk(7, 2, 1, STR("third")),
        chunk(7, 1, 2, STR("sec\0nd")),
        chunk(8, 1, 1, STR("of another")),
        chunk(7, 1, 1, STR("first")),
    };
    struct log_chunk *got;
    given[1].stream = LOG_STDERR;
    assert_rc(logs->ops->append(logs, given, COUNT_OF(given), &w->err), RC_OK);
    assert_int_equal(read_log(w, logs, 7, (struct log_place){0}, 1000, &got), 3);
    assert_str(got[0].bytes, STR("first"));
    assert_str(got[1].bytes, STR("sec\0nd"));
    assert_int_equal(got[1].stream, LOG_STDERR);
    assert_int_equal(got[1].at_ms, T0 + 2);
    assert_str(got[2].bytes, STR("third"));
    assert_int_equal(read_log(w, logs, 9, (struct log_place){0}, 1000, &got), 0);
    logs->ops->close(logs);
}

PROMISE(sending_a_chunk_twice_is_harmless)
{
    struct world *w = *state;
    struct logs *logs = open_logs(w);
    struct log_chunk given[] = {chunk(7, 1, 1, STR("a")), chunk(7, 1, 2, STR("b"))};
    struct log_chunk again[] = {chunk(7, 1, 2, STR("other")), chunk(7, 1, 3, STR("c"))};
    struct log_chunk *got;
    assert_rc(logs->ops->append(logs, given, 2, &w->err), RC_OK);
    assert_rc(logs->ops->append(logs, again, 2, &w->err), RC_OK);
    assert_int_equal(read_log(w, logs, 7, (struct log_place){0}, 1000, &got), 3);
    assert_str(got[1].bytes, STR("b"));
    assert_str(got[2].bytes, STR("c"));
    logs->ops->close(logs);
}

PROMISE(output_is_read_in_pages)
{
    struct world *w = *state;
    struct logs *logs = open_logs(w);
    struct log_place place = {0};
    struct log_chunk *got;
    for (uint64_t seq = 1; seq <= 10; seq++) {
        struct log_chunk one = chunk(7, 1 + seq / 6, seq, STR("0123456789"));
        assert_rc(logs->ops->append(logs, &one, 1, &w->err), RC_OK);
    }
    uint64_t seen = 0;
    for (size_t count; (count = read_log(w, logs, 7, place, 25, &got)) > 0;) {
        assert_true(count <= 3); /* the third chunk reaches 25 bytes */
        for (size_t i = 0; i < count; i++)
            assert_int_equal(got[i].seq, ++seen);
        place = (struct log_place){got[count - 1].token, got[count - 1].seq};
    }
    assert_int_equal(seen, 10);
    assert_int_equal(read_log(w, logs, 7, (struct log_place){0}, 0, &got), 1); /* never stuck */
    assert_int_equal(read_log(w, logs, 7, (struct log_place){UINT64_MAX, 0}, 25, &got), 0);
    logs->ops->close(logs);
}

PROMISE(trimming_goes_by_time_and_in_steps)
{
    struct world *w = *state;
    struct logs *logs = open_logs(w);
    struct log_chunk *got;
    size_t count;
    for (uint64_t seq = 1; seq <= 10; seq++) {
        struct log_chunk one = chunk(seq % 2, 1, seq, STR("x"));
        one.exec_id += 7;
        assert_rc(logs->ops->append(logs, &one, 1, &w->err), RC_OK);
    }
    assert_rc(logs->ops->trim(logs, T0 + 8, 5, &count, &w->err), RC_OK);
    assert_int_equal(count, 5);
    assert_rc(logs->ops->trim(logs, T0 + 8, 5, &count, &w->err), RC_OK);
    assert_int_equal(count, 2);
    assert_rc(logs->ops->trim(logs, T0 + 8, 5, &count, &w->err), RC_OK);
    assert_int_equal(count, 0);
    assert_int_equal(read_log(w, logs, 7, (struct log_place){0}, 1000, &got), 2);
    assert_int_equal(got[0].seq, 8);
    assert_int_equal(read_log(w, logs, 8, (struct log_place){0}, 1000, &got), 1);
    logs->ops->close(logs);
}

PROMISE(one_handle_sees_what_another_wrote)
{
    struct world *w = *state;
    struct logs *writer = open_logs(w);
    struct logs *reader = open_logs(w);
    struct log_chunk one = chunk(7, 1, 1, STR("hello"));
    struct log_chunk *got;
    assert_int_equal(read_log(w, reader, 7, (struct log_place){0}, 1000, &got), 0);
    world_claim(w, STR("nightly"), 7); /* a turn under way does not disturb it */
    assert_rc(writer->ops->append(writer, &one, 1, &w->err), RC_OK);
    assert_int_equal(read_log(w, reader, 7, (struct log_place){0}, 1000, &got), 1);
    writer->ops->close(writer);
    reader->ops->close(reader);
}

#include "cli/cells.h"
#include "cli/top/screen.h"

#include "base/test/test.h"

#include <string.h>

static struct arena arena;
static struct buf out = BUF(1 << 20);

static int clean_up(void **state)
{
    (void)state;
    arena_free(&arena);
    buf_free(&out);
    out = BUF(1 << 20);
    return 0;
}
TEST_GROUP(NULL, clean_up)

static const struct json *doc(const char *text)
{
    struct err err;
    struct json *json = ARENA_NEW(&arena, struct json);
    assert_int_equal(json_parse(str_c(text), &arena, json, &err), RC_OK);
    return json;
}

#define TICK(second, queues)                                                                       \
    "{\"time\":\"2026-11-16T08:00:0" second ".000Z\",\"as_of\":\"2026-11-16T08:00:0" second        \
    ".000Z\",\"uptime_ms\":90061000,\"jobs\":{\"active\":3},\"executions\":{\"queued\":7,"         \
    "\"running\":2,\"failed\":1,\"timeout\":1},\"dead_letters\":4,\"workers\":{\"count\":2,"       \
    "\"slots\":8,\"busy\":6},\"store\":{\"commits\":1" second "0},\"queues\":[" queues             \
    "],\"queue_count\":312}"
#define QUEUE(name, queued, completed, failed)                                                     \
    "{\"queue\":\"" name "\",\"queued\":" #queued ",\"running\":1,\"completed\":" #completed       \
    ",\"failed\":" #failed ",\"dead_letters\":0}"

static struct top_data two_queues(void)
{
    return (struct top_data){
        .before = doc(TICK("0", QUEUE("mail", 2, 100, 0) "," QUEUE("web", 1, 50, 3))),
        .tick = doc(TICK("2", QUEUE("mail", 2, 140, 0) "," QUEUE("web", 5, 51, 3))),
        .running = doc("{\"executions\":[{\"execution_id\":\"exec_b\",\"job_name\":\"young\","
                       "\"job_id\":\"job_b\",\"queue\":\"web\",\"started_at\":"
                       "\"2026-11-16T08:00:01.000Z\",\"attempt_count\":0},{\"execution_id\":"
                       "\"exec_a\",\"job_name\":null,\"job_id\":\"job_a\",\"queue\":\"mail\","
                       "\"started_at\":\"2026-11-16T07:00:00.000Z\",\"attempt_count\":1}]}"),
        .failures = doc("{\"executions\":[{\"execution_id\":\"exec_f\",\"job_name\":\"bad\","
                        "\"queue\":\"web\",\"finished_at\":\"2026-11-16T07:59:58.000Z\","
                        "\"error\":\"exit code 1\",\"duration_ms\":24}]}"),
        .workers = doc("{\"workers\":[{\"worker_id\":\"wrk_1\",\"status\":\"active\",\"busy\":6,"
                       "\"slots\":8,\"name\":\"host/1\",\"seen_at\":\"2026-11-16T08:00:01.000Z\"},"
                       "{\"worker_id\":\"wrk_2\",\"status\":\"away\",\"busy\":0,\"slots\":1}]}"),
        .cluster = doc("{\"nodes\":[{\"name\":\"a\",\"status\":\"active\",\"partitions\":8,"
                       "\"commits\":{\"count\":9,\"p50_us\":1100,\"p99_us\":4400}},{\"name\":\"b\","
                       "\"status\":\"silent\",\"partitions\":8,\"commits\":null}]}"),
        .series[TOP_submitted] =
            doc("{\"step_ms\":10000,\"points\":[{\"value\":7},{\"value\":1200},"
                "{\"value\":null}]}"),
        .series[TOP_start_lag_p99] = doc("{\"step_ms\":10000,\"points\":[{\"value\":5300}]}"),
    };
}

/* NUL-terminated. */
static const char *shown(const struct top_data *data, struct top_view view)
{
    buf_clear(&out);
    view.url = STR("http://127.0.0.1:7420");
    screen_print(data, &view, &arena, &out);
    buf_add_char(&out, '\0');
    assert_false(out.overflow);
    return out.ptr;
}

/* The line that begins so, or NULL. */
static const char *line_of(const char *text, const char *begin)
{
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, begin, strlen(begin)) == 0)
            return line;
    }
    return NULL;
}

static bool has_line(const char *text, const char *want)
{
    const char *line = line_of(text, want);
    return line != NULL && line[strlen(want)] == '\n';
}

/* How many lines; none is wider than cols. */
static size_t count_lines(const char *text, size_t cols)
{
    struct str rest = str_c(text);
    size_t lines = 0;
    for (; rest.len > 0; lines++) {
        struct str line = str_cut(&rest, '\n');
        struct buf bare = BUF(1 << 16);
        while (line.len > 0) {
            if (line.ptr[0] == '\x1b')
                (void)str_cut(&line, 'm');
            else {
                buf_add_char(&bare, line.ptr[0]);
                line = str_from(line, 1);
            }
        }
        assert_in_range(cells_width(buf_str(&bare)), 0, cols);
        buf_free(&bare);
    }
    return lines;
}

TEST(a_terminal_of_the_usual_size_has_everything)
{
    struct top_data data = two_queues();
    const char *text = shown(&data, (struct top_view){.rows = 24, .cols = 80});
    assert_int_equal(count_lines(text, 80), 24);
    assert_non_null(line_of(text, "belfry top  08:00:02 UTC  up 1d1h1m  http://127.0.0.1:7420\n"));
    assert_true(has_line(text, "runs     queued 7  running 2  retrying 0  waiting 0  failed 2  "
                               "dead 4  jobs 3"));
    assert_true(has_line(text, "per sec  in 120  started -  done -  failed -  lag p50 - p99 5.3s  "
                               "oldest -"));
    assert_true(has_line(text, "workers  active 1  away 1  busy 6 of 8 slots "
                               "[###############.....]"));
    assert_true(has_line(text, "database commits 10/s  p50 1.1ms  p99 4.4ms  a 8  b 8 silent"));
    assert_non_null(line_of(text, "QUEUE "));
    assert_non_null(line_of(text, "LONGEST RUNNING"));
    assert_non_null(line_of(text, "NEWEST FAILURES"));
    assert_non_null(line_of(text, "q quit  s sort (load)"));
    assert_non_null(strstr(text, "2 of 312 queues"));
}

/* Word number i of the line. */
static struct str word_of(const char *line, size_t i)
{
    struct str rest = str_c(line);
    rest = str_of(rest.ptr, str_index(rest, '\n'));
    for (;;) {
        struct str word = str_cut(&rest, ' ');
        if (word.len > 0 && i-- == 0)
            return word;
        if (rest.len == 0)
            return STR("");
    }
}

TEST(rates_are_told_since_the_tick_before)
{
    struct top_data data = two_queues();
    const char *mail = line_of(shown(&data, (struct top_view){.rows = 24, .cols = 80}), "mail ");
    assert_non_null(mail);
    assert_true(str_eq(word_of(mail, 1), STR("2")));
    assert_true(str_eq(word_of(mail, 5), STR("20")));
    data.before = NULL;
    mail = line_of(shown(&data, (struct top_view){.rows = 24, .cols = 80}), "mail ");
    assert_true(str_eq(word_of(mail, 1), STR("2")));
    assert_true(str_eq(word_of(mail, 5), STR("-")));
}

TEST(all_queues_are_taken_where_a_tick_has_not_all)
{
    struct top_data data = two_queues();
    data.queues_before = doc(TICK("1", QUEUE("quiet", 0, 5, 0) "," QUEUE("mail", 2, 110, 0)));
    data.queues = doc(TICK("3", QUEUE("quiet", 0, 5, 0) "," QUEUE("mail", 2, 130, 0)));
    const char *text = shown(&data, (struct top_view){.rows = 24, .cols = 80});
    assert_non_null(line_of(text, "quiet "));
    assert_null(line_of(text, "web "));
    assert_true(str_eq(word_of(line_of(text, "mail "), 5), STR("10")));
}

TEST(queues_are_sorted_as_wished)
{
    struct top_data data = two_queues();
    struct top_view view = {.rows = 24, .cols = 80};
    const char *text = shown(&data, view);
    assert_true(line_of(text, "web ") < line_of(text, "mail "));
    view.reversed = true;
    text = shown(&data, view);
    assert_true(line_of(text, "mail ") < line_of(text, "web "));
    view = (struct top_view){.rows = 24, .cols = 80, .sort = TOP_BY_DONE};
    text = shown(&data, view);
    assert_true(line_of(text, "mail ") < line_of(text, "web "));
    view.sort = TOP_BY_FAILED;
    text = shown(&data, view);
    assert_true(line_of(text, "web ") < line_of(text, "mail "));
}

TEST(a_filter_is_about_queues_and_jobs)
{
    struct top_data data = two_queues();
    const char *text =
        shown(&data, (struct top_view){.rows = 24, .cols = 80, .filter = STR("mai")});
    assert_non_null(line_of(text, "mail "));
    assert_null(line_of(text, "web "));
    assert_non_null(line_of(text, "exec_a"));
    assert_null(line_of(text, "exec_b"));
    text = shown(&data, (struct top_view){.rows = 24, .cols = 80, .filter = STR("you")});
    assert_non_null(line_of(text, "exec_b"));
    assert_true(has_line(text, "no queue fits the filter"));
}

TEST(the_longest_run_comes_first)
{
    struct top_data data = two_queues();
    const char *text = shown(&data, (struct top_view){.rows = 24, .cols = 80});
    assert_true(line_of(text, "exec_a") < line_of(text, "exec_b"));
    assert_non_null(strstr(line_of(text, "exec_a"), " 1h2s  job_a"));
}

TEST(more_room_shows_workers_and_servers)
{
    struct top_data data = two_queues();
    const char *text = shown(&data, (struct top_view){.rows = 50, .cols = 160});
    assert_int_equal(count_lines(text, 160), 50);
    assert_non_null(line_of(text, "WORKER "));
    assert_non_null(line_of(text, "SERVER "));
}

TEST(every_size_is_filled_and_none_is_exceeded)
{
    struct top_data data = two_queues();
    for (size_t rows = 1; rows < 60; rows++) {
        for (size_t cols = 1; cols < 200; cols += 7) {
            bool colour = (rows + cols) % 2 == 0;
            const char *text = shown(
                &data,
                (struct top_view){.rows = rows, .cols = cols, .colour = colour, .first = rows});
            assert_int_equal(count_lines(text, cols), rows);
            text = shown(&data, (struct top_view){.rows = rows, .cols = cols, .help = true});
            assert_int_equal(count_lines(text, cols), rows);
        }
    }
}

TEST(names_cannot_break_the_screen)
{
    struct buf tick = BUF(1 << 16);
    buf_add(&tick, STR("{\"time\":\"2026-11-16T08:00:02.000Z\",\"queues\":["));
    buf_add(&tick,
            STR("{\"queue\":\"\\u001b[2J\\u001b]0;pwned\\u0007\\r\\n\\u009b31m\",\"queued\":9},"));
    buf_add(&tick, STR("{\"queue\":\""));
    for (int i = 0; i < 66; i++)
        buf_add(&tick, STR("\xe9\x82\xae"));
    buf_add(&tick,
            STR("\",\"queued\":8},{\"queue\":\"x\\u0300\\u0301\\u202e\\u200dy\",\"queued\":7}]}"));
    buf_add_char(&tick, '\0');
    struct top_data data = {.tick = doc(tick.ptr)};
    const char *text = shown(&data, (struct top_view){.rows = 24, .cols = 80});
    assert_int_equal(count_lines(text, 80), 24);
    assert_null(strpbrk(text, "\x1b\r\a\t"));
    assert_null(strstr(text, "\xc2\x9b"));
    assert_non_null(line_of(text, "x y"));
    buf_free(&tick);
}

TEST(a_server_that_is_gone_is_said_at_the_top)
{
    struct top_data data = two_queues();
    const char *text =
        shown(&data, (struct top_view){.rows = 24, .cols = 80, .lost = STR("connection refused")});
    assert_non_null(line_of(text, "belfry top  LOST THE SERVER, trying again (as of 08:00:02): "
                                  "connection refused"));
    assert_non_null(line_of(text, "mail ")); /* as it was */
}

TEST(without_colours_there_is_no_escape)
{
    struct top_data data = two_queues();
    assert_null(strchr(shown(&data, (struct top_view){.rows = 50, .cols = 80}), '\x1b'));
    assert_non_null(
        strchr(shown(&data, (struct top_view){.rows = 50, .cols = 80, .colour = true}), '\x1b'));
}

TEST(without_a_terminal_everything_is_shown_once)
{
    struct top_data data = two_queues();
    const char *text = shown(&data, (struct top_view){.rows = 0});
    assert_non_null(line_of(text, "wrk_2"));
    assert_non_null(line_of(text, "exec_f"));
    assert_null(line_of(text, "q quit"));
}

TEST(before_the_first_answer_there_is_a_screen_as_well)
{
    struct top_data data = {.tick = NULL};
    assert_int_equal(count_lines(shown(&data, (struct top_view){.rows = 24, .cols = 80}), 80), 24);
}

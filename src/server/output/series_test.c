#include "server/output/series.h"

#include "base/test/test.h"
#include "server/output/followers.h"
#include "server/server.h"

#include <stdio.h>

enum { FIRST = 1000 };

static struct server server;
static struct output_log tail = {.server = &server};
static const struct stats_view nothing;
static int64_t step;

static struct series *begin(void)
{
    struct series *s = series_new(&tail);
    step = FIRST;
    series_close(s, NULL, step); /* the one that began before it did is none */
    return s;
}

static void happens_in(struct series *s, const char *queue)
{
    const struct event event = {.exec_id = 1, .event = EV_CREATE, .queue = str_c(queue)};
    series_event(s, &event);
}

static void pass(struct series *s, int samples)
{
    for (int i = 0; i < samples; i++)
        series_close(s, &nothing, ++step);
}

static void fill(struct series *s)
{
    for (int i = 0; i < SERIES_QUEUES; i++) {
        char name[16];
        snprintf(name, sizeof name, "q%d", i);
        happens_in(s, name);
    }
}

static void expect(const struct series *s, const char *queue, const char *begins, const char *ends)
{
    const struct series_call call = {.metric = SERIES_SUBMITTED, .queue = str_c(queue)};
    CLEANUP(buf_free) struct buf out = BUF(1 << 20);
    series_print(s, &call, &out);
    struct str text = buf_str(&out);
    size_t tail_len = str_c(ends).len;
    if (!str_starts(text, str_c(begins)) || text.len < tail_len ||
        !str_eq(str_from(text, text.len - tail_len), str_c(ends)))
        fail_msg("%s: %.*s", queue, STR_ARG(str_head(text, 300)));
}

TEST(a_queue_without_a_place_is_known_to_be_idle_while_there_is_room)
{
    struct series *s = begin();
    happens_in(s, "mail");
    pass(s, 2);
    expect(s, "mail", "{\"known\":true,\"rows\":[[1000,1,1],", "[1001,1,0]]}");
    expect(s, "other", "{\"known\":false,\"rows\":[[1000,1,0],", "[1001,1,0]]}");
    series_free(s);
}

TEST(a_queue_that_found_no_place_is_unknown_up_to_then_and_no_longer)
{
    struct series *s = begin();
    fill(s);
    happens_in(s, "q0");
    happens_in(s, "q1");
    happens_in(s, "late");
    pass(s, 1);
    expect(s, "never", "{\"known\":false,\"rows\":[]}", "");
    pass(s, 2);
    expect(s, "never", "{\"known\":false,\"rows\":[[1001,1,0],[1002,1,0]]}", "");
    series_free(s);
}

TEST(queues_that_were_idle_for_all_samples_make_room)
{
    struct series *s = begin();
    fill(s);
    pass(s, SERIES_SAMPLES - 1);
    happens_in(s, "q7"); /* which stays */
    pass(s, 2);
    expect(s, "q7", "{\"known\":true,", ",0]]}");
    expect(s, "q8", "{\"known\":false,", ",0]]}");
    happens_in(s, "late");
    pass(s, 1);
    expect(s, "late", "{\"known\":true,", ",1]]}");
    series_free(s);
}

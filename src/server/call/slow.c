#include "server/call/slow.h"
#include "base/log.h"
#include "server/call/route_table.h"
#include "server/metrics/metrics.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    PATH_SHOWN_MAX = 300,
    OWN_FIELDS = 6, /* of a line, besides its phases */
};

/* ---- the line */

static struct str number_text(struct request *r, int64_t number)
{
    return arena_printf(r->arena, "%" PRId64, number);
}

static size_t add_phases(struct request *r, struct log_field *fields)
{
    static const char *const keys[SPENT_PHASES] = {
        [SPENT_READ] = "read_ms",
        [SPENT_PARSE] = "parse_ms",
        [SPENT_TURN_WAIT] = "turn_wait_ms",
        [SPENT_ADMIT] = "admit_ms",
        [SPENT_DECIDE] = "decide_ms",
        [SPENT_COMMIT] = "commit_ms",
        [SPENT_QUERY_WAIT] = "query_wait_ms",
        [SPENT_QUERY] = "query_ms",
        [SPENT_PACK] = "pack_ms",
        [SPENT_OTHER_THREAD] = "other_thread_ms",
        [SPENT_OTHER_SERVER] = "other_server_ms",
        [SPENT_RETURN] = "return_ms",
        [SPENT_ANSWER] = "answer_ms",
    };
    size_t count = 0;
    for (size_t i = 0; i < SPENT_PHASES; i++) {
        int64_t ms = r->times.spent_us[i] / 1000;
        if (ms > 0)
            fields[count++] = (struct log_field){keys[i], number_text(r, ms), true};
    }
    return count;
}

static void tell(struct request *r, int status, int64_t took_us)
{
    struct log_field fields[OWN_FIELDS + SPENT_PHASES] = {
        {"method", str_c(http_method_name(r->http->method)), false},
        {"route", r->route->path, false},
        {"path", str_head(r->http->path, PATH_SHOWN_MAX), false},
        {"status", number_text(r, status), true},
        {"key", r->who == NULL ? STR("") : r->who->name, false},
        {"took_ms", number_text(r, took_us / 1000), true},
    };
    size_t count = OWN_FIELDS + add_phases(r, fields + OWN_FIELDS);
    log_set_about(request_about, r);
    log_write_fields(LOG_WARN, "a call was slow", fields, count);
}

static void tell_left_out(struct slow_calls *s)
{
    if (s->left_out > 0)
        log_warn("more calls were slow than the log has lines for", "left_out",
                 LOG_NUMBER(s->left_out), "within_ms", LOG_NUMBER(SLOW_WINDOW_MS), NULL);
    s->told = 0;
    s->left_out = 0;
}

/* ---- the window */

static void on_timer(uv_timer_t *timer)
{
    tell_left_out(timer->data);
}

void slow_init(struct slow_calls *s, uv_loop_t *loop, struct server *server, size_t net)
{
    *s = (struct slow_calls){
        .server = server,
        .net = net,
        .limit_us = (int64_t)server->options->slow_request_ms * 1000,
    };
    uv_timer_init(loop, &s->timer);
    s->timer.data = s;
}

void slow_close(struct slow_calls *s)
{
    tell_left_out(s);
    uv_close((uv_handle_t *)&s->timer, NULL);
}

/* What waits by its nature. */
static bool waits(const struct request *r)
{
    return r->route == NULL || r->route->command == CMD_POLL || r->stream != NULL;
}

void slow_look(struct slow_calls *s, struct request *r, int status, int64_t now_us)
{
    int64_t took_us = now_us - r->http->begun_us;
    if (s->limit_us == 0 || took_us < s->limit_us || waits(r))
        return;
    bool told = s->told < SLOW_LINES_MAX;
    metrics_slow(s->server->metrics, s->net, told);
    if (s->told + s->left_out == 0)
        uv_timer_start(&s->timer, on_timer, SLOW_WINDOW_MS, 0);
    if (told) {
        times_book(&r->times, r->times.away == SPENT_ANSWER ? SPENT_ANSWER : SPENT_PARSE, now_us);
        s->told++;
        tell(r, status, took_us);
    } else {
        s->left_out++;
    }
}

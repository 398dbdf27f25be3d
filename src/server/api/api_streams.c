/* api_streams.c - endless answers: events. */
#include "server/api/api.h"
#include "server/output/event_filter.h"
#include "server/output/merged_events.h"
#include "server/output/output_log.h"
#include "wire/http/sse.h"

static void follow(struct request *r, struct follow *f)
{
    r->follow = f;
    f->head_only = r->http->method == HTTP_METHOD_HEAD;
    /* It comes home only when there is nothing to follow, with the reason. */
    if (request_accepts(r, SSE_TYPE))
        request_to_output_log(r, output_log_follow, NULL);
}

static const char *const event_params[] = {"view", "job", "execution", "queue", "type", NULL};
static const char *const event_repeats[] = {"job", "execution", "queue", "type", NULL};

/* Reads the parameters of a feed into one text. */
static void read_event_filter(struct request *r, struct follow *f, struct field_errors *errors)
{
    struct event_filter filter = {.kinds = 0};
    struct str rest = r->http->query;
    struct str name;
    struct str value;
    while (request_next_param(r, &rest, &name, &value)) {
        for (size_t i = 0; event_repeats[i] != NULL; i++) {
            if (str_eq(name, str_c(event_repeats[i])))
                event_filter_add(&filter, event_repeats[i], value, errors, r->arena);
        }
    }
    event_filter_end(&filter);
    f->filter_text = arena_str(r->arena, filter.text);
    event_filter_free(&filter);
}

/* Ticks for many. Nothing of it is numbered, so there is nothing to resume. */
static void follow_summary(struct request *r, struct follow *f)
{
    f->kind = FOLLOW_SUMMARY;
    f->own_only = r->by_server;
    follow(r, f);
}

void api_events(struct request *r)
{
    struct follow *f = ARENA_NEW(r->arena, struct follow);
    struct field_errors errors = {0};
    struct str view = {0};
    if (!request_params_repeat(r, event_params, event_repeats))
        return;
    read_event_filter(r, f, &errors);
    if (http_request_param(r->http, STR("view"), &view) && !str_eq(view, STR("summary")))
        field_error(&errors, r->arena, STR("view"), "must be summary");
    if (errors.count > 0) {
        request_fail_fields(r, &errors);
        return;
    }
    if (view.len > 0) {
        follow_summary(r, f);
        return;
    }
    bool head = r->http->method == HTTP_METHOD_HEAD;
    if (!head && http_request_accepts(r->http, STR(SSE_TYPE)) && events_all(r))
        return;
    struct str last = http_request_header(r->http, STR("Last-Event-ID"));
    f->kind = FOLLOW_EVENTS;
    f->from_now = last.len == 0;
    if (last.len > 0 && !str_to_u64(last, &f->event))
        f->event = 0; /* older than everything: the reader is told to start anew */
    follow(r, f);
}

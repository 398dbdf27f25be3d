/* api_teams.c - teams: how many of their jobs run, and how many may. */
#include "server/api.h"
#include "wire/team_json.h"

enum { ANSWER_BYTES_MAX = 4096, LIST_BYTES_MAX = 16 << 20 };

/* ---- one of them */

/* The team in the path, as it was meant. Answers the problem itself when it returns false. */
static bool read_name(struct request *r)
{
    struct field_errors errors = {0};
    if (!http_decode(r->arena, r->id, false, &r->cmd.team.name))
        field_error(&errors, r->arena, STR("team"),
                    "has a %% without two hexadecimal digits behind it");
    else
        (void)team_name_check(r->cmd.team.name, r->arena, &errors);
    if (errors.count == 0)
        return true;
    request_fail_fields(r, &errors);
    return false;
}

static void answer_team(struct request *r)
{
    if (r->cmd.reply.rc != RC_OK) {
        request_fail(r, r->cmd.reply.rc, r->cmd.reply.err.text);
        return;
    }
    struct buf out = request_buf(r, ANSWER_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&out);
    team_view_print(&w, r->cmd.reply.teams);
    request_answer(r, 200, buf_str(&out));
}

void api_team(struct request *r)
{
    if (request_no_params(r) && read_name(r))
        request_to_turn(r, CMD_TEAM, answer_team);
}

void api_team_change(struct request *r)
{
    struct json doc;
    struct field_errors errors = {0};
    if (!request_no_params(r) || !read_name(r) || !request_json(r, false, &doc))
        return;
    if (team_limit_parse(&doc, r->arena, &r->cmd.team, &errors) != RC_OK)
        request_fail_fields(r, &errors);
    else
        request_to_turn(r, CMD_TEAM, answer_team);
}

/* ---- all of them, by name; the cursor is the last name of the page before */

static void print_page(struct request *r, struct json_writer *w, struct str cursor)
{
    const struct team_view *teams = r->cmd.reply.teams;
    size_t count = r->cmd.reply.team_count;
    size_t at = 0;
    while (at < count && str_cmp(teams[at].team.name, cursor) <= 0)
        at++;
    size_t end = count - at > r->page.limit ? at + r->page.limit : count;
    json_key(w, "teams");
    json_open_array(w);
    for (; at < end; at++)
        team_view_print(w, &teams[at]);
    json_close_array(w);
    json_put_text(w, "next_cursor", end < count ? teams[end - 1].team.name : STR(""));
}

static void answer_teams(struct request *r)
{
    struct str cursor = STR("");
    if (r->cmd.reply.rc != RC_OK) {
        request_fail(r, r->cmd.reply.rc, r->cmd.reply.err.text);
        return;
    }
    (void)http_request_param(r->http, STR("cursor"), &cursor);
    r->body = BUF(LIST_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&r->body);
    json_open(&w);
    print_page(r, &w, cursor);
    if (r->want_total) {
        json_put_int(&w, "total", (int64_t)r->cmd.reply.team_count);
        json_put_bool(&w, "total_is_estimate", false);
    }
    json_close(&w);
    request_answer(r, 200, buf_str(&r->body));
}

static void check_cursor(struct request *r, struct field_errors *errors)
{
    struct field_errors of_name = {0};
    struct str cursor;
    if (http_request_param(r->http, STR("cursor"), &cursor) &&
        team_name_check(cursor, r->arena, &of_name) != RC_OK)
        field_error(errors, r->arena, STR("cursor"), "is not a next_cursor of this list");
}

void api_teams(struct request *r)
{
    static const char *const params[] = {"limit", "cursor", "count", NULL};
    struct field_errors errors = {0};
    if (!request_params_known(r, params))
        return;
    request_page(r, &errors);
    check_cursor(r, &errors);
    if (errors.count > 0)
        request_fail_fields(r, &errors);
    else
        request_to_turn(r, CMD_TEAMS, answer_teams);
}

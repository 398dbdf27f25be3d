/* api_teams.c - teams: how many of their jobs run, and how many may. */
#include "server/api/named_list.h"
#include "wire/message/team_json.h"

/* ---- all of them */

static size_t count(const struct request *r)
{
    return r->cmd.reply.team_count;
}

static struct str name_of(const struct request *r, size_t i)
{
    return r->cmd.reply.teams[i].team.name;
}

static void print(const struct request *r, struct json_writer *w, size_t i)
{
    team_view_print(w, &r->cmd.reply.teams[i]);
}

static const struct named_list list = {
    .key = "teams",
    .check = team_name_check,
    .count = count,
    .name = name_of,
    .print = print,
};

void api_teams(struct request *r)
{
    named_list_answer(r, &list);
}

/* ---- one of them */

static bool read_name(struct request *r)
{
    return request_path_name(r, "team", team_name_check, &r->cmd.team.name);
}

static void answer_team(struct request *r)
{
    struct json_writer w = request_writer(r);
    team_view_print(&w, r->cmd.reply.teams);
    request_answer_body(r, 200);
}

void api_team(struct request *r)
{
    if (request_no_params(r) && read_name(r))
        request_to_turn(r, answer_team);
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
        request_to_turn(r, answer_team);
}

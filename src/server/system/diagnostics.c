/* diagnostics.c - GET /diagnostics: the checks of all servers, and whether they run one version. */
#include "server/call/worker_versions.h"
#include "server/system/checks.h"
#include "server/system/merged.h"
#include "server/system/system.h"

#include <string.h>

enum { DIAGNOSTICS_BYTES_MAX = 4 << 20 };

static void check_workers(struct checks *c, const struct server *s)
{
    struct worker_version *versions;
    size_t count = worker_versions_look(s->worker_versions, c->arena, &versions);
    struct str text = STR("no worker is connected");
    bool others = false;
    for (size_t i = 0; i < count; i++) {
        const char *version = versions[i].text[0] == '\0' ? "no version" : versions[i].text;
        struct str before = i == 0 ? STR("connections of workers:") : text;
        text = arena_printf(c->arena, "%.*s%s %zu of %s", STR_ARG(before), i == 0 ? "" : ",",
                            versions[i].connections, version);
        others |= versions[i].text[0] != '\0' && strcmp(version, BELFRY_VERSION) != 0;
    }
    struct check *check = checks_add(c, "workers", text);
    if (others)
        check_find(
            check, CHECK_WARNING,
            "finish the upgrade: workers and servers of two versions work together, but only "
            "for as long as that takes");
}

static void look(struct request *r, struct reader *reader)
{
    struct checks c = {.arena = r->arena};
    struct json_writer w = JSON_WRITER(&r->body);
    struct str server = merged_own_name(r);
    checks_host(&c, r->server);
    checks_store(&c, r->server, reader);
    check_workers(&c, r->server);
    json_open(&w);
    json_put_str(&w, "server", server);
    json_put_str(&w, "version", STR(BELFRY_VERSION));
    json_key(&w, "checks");
    json_open_array(&w);
    for (size_t i = 0; i < c.list.len; i++)
        check_print(&w, &c.list.items[i], server);
    json_close_array(&w);
    json_close(&w);
}

void api_diagnostics(struct request *r)
{
    if (!request_no_params(r))
        return;
    r->body = BUF(DIAGNOSTICS_BYTES_MAX);
    request_to_query_first(r, look, merged_answer_part);
}

/* ---- side by side */

static void put_servers(struct json_writer *w, const struct json *docs, size_t count)
{
    json_key(w, "servers");
    json_open_array(w);
    for (size_t i = 0; i < count; i++) {
        json_open(w);
        json_put_str(w, "server", merged_name(&docs[i]));
        json_put_str(w, "version", merged_text(&docs[i], STR("version")));
        json_close(w);
    }
    json_close_array(w);
}

static struct check check_versions(struct request *r, const struct json *docs, size_t count)
{
    struct str own = merged_text(&docs[0], STR("version"));
    struct check check = {.name = "versions"};
    struct str others = STR("");
    for (size_t i = 1; i < count; i++) {
        struct str version = merged_text(&docs[i], STR("version"));
        if (!str_eq(version, own))
            others = arena_printf(r->arena, "%.*s, %.*s runs %.*s", STR_ARG(others),
                                  STR_ARG(merged_name(&docs[i])), STR_ARG(version));
    }
    check.detail =
        arena_printf(r->arena, others.len > 0 ? "%.*s runs %.*s%.*s" : "%.*s: %.*s%.*s",
                     STR_ARG(others.len > 0 ? merged_name(&docs[0]) : STR("all servers")),
                     STR_ARG(own), STR_ARG(others));
    if (others.len > 0)
        check_find(
            &check, CHECK_WARNING,
            "finish the upgrade: servers of two versions work together, but only for as long "
            "as that takes");
    return check;
}

static enum check_status worst_of(const struct json *doc)
{
    size_t count;
    enum check_status worst = CHECK_OK;
    const struct json *items = merged_items(doc, STR("checks"), &count);
    for (size_t i = 0; i < count; i++) {
        enum check_status status = check_status_parse(merged_text(&items[i], STR("status")));
        if (status > worst)
            worst = status;
    }
    return worst;
}

static void put_checks(struct json_writer *w, const struct check *versions, const struct json *docs,
                       size_t count)
{
    json_key(w, "checks");
    json_open_array(w);
    check_print(w, versions, merged_name(&docs[0]));
    for (size_t i = 0; i < count; i++) {
        size_t checks;
        const struct json *items = merged_items(&docs[i], STR("checks"), &checks);
        for (size_t k = 0; k < checks; k++)
            json_raw(w, items[k].raw);
    }
    json_close_array(w);
}

void api_diagnostics_merge(struct request *r, const struct json *docs, size_t count)
{
    struct check versions = check_versions(r, docs, count);
    enum check_status worst = versions.status;
    for (size_t i = 0; i < count; i++) {
        enum check_status status = worst_of(&docs[i]);
        if (status > worst)
            worst = status;
    }
    buf_free(&r->body);
    r->body = BUF(DIAGNOSTICS_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&r->body);
    json_open(&w);
    json_put_str(&w, "server", merged_name(&docs[0]));
    json_put_str(&w, "status", check_status_name(worst));
    put_servers(&w, docs, count);
    put_checks(&w, &versions, docs, count);
    merged_put_missing(&w, r, docs, count);
    json_close(&w);
    request_answer_body(r, 200);
}

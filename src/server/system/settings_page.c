/* settings_page.c - GET /settings: by which settings the servers go, and where each value comes
 * from. Of a secret nothing is told but that it is set, not even to another server. */
#include "server/config/settings.h"
#include "server/system/merged.h"
#include "server/system/system.h"

enum { SETTINGS_BYTES_MAX = 1 << 20 };

/* The name of the variable or of the file. */
static struct str place_of(const struct server_options *options, const struct setting *s,
                           struct arena *arena)
{
    enum setting_source source = settings_source(options, s);
    if (source == SOURCE_ENV)
        return str_c(settings_variable(s, arena));
    return source == SOURCE_CONFIG ? str_c(options->config_file) : STR("");
}

static void put_setting(struct json_writer *w, const struct server_options *options,
                        const struct setting *s, struct arena *arena)
{
    char fallback[WHEN_TEXT_MAX];
    json_open(w);
    json_put_str(w, "name", str_c(s->name));
    json_put_str(w, "value", settings_value_text(options, s, arena));
    json_put_str(w, "default", settings_default_text(s, fallback));
    json_put_str(w, "source", settings_source_name(settings_source(options, s)));
    json_put_text(w, "from", place_of(options, s, arena));
    json_put_bool(w, "adjusted", settings_is_adjusted(options, s));
    json_put_bool(w, "secret", (s->traits & SETTING_SECRET) != 0);
    json_put_bool(w, "own", (s->traits & SETTING_OWN) != 0);
    json_put_str(w, "words", str_c(s->help));
    json_close(w);
}

void api_settings(struct request *r)
{
    static const char *const known[] = {"server", NULL};
    if (!request_params_known(r, known))
        return;
    r->body = BUF(SETTINGS_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&r->body);
    json_open(&w);
    json_put_str(&w, "server", merged_own_name(r));
    json_key(&w, "settings");
    json_open_array(&w);
    for (size_t i = 0; i < settings_count; i++)
        put_setting(&w, r->server->options, &settings_all[i], r->arena);
    json_close_array(&w);
    json_close(&w);
    merged_answer_part(r);
}

/* ---- side by side */

static const struct json *setting_of(const struct json *doc, struct str name)
{
    size_t count;
    const struct json *items = merged_items(doc, STR("settings"), &count);
    for (size_t i = 0; i < count; i++) {
        if (str_eq(merged_text(&items[i], STR("name")), name))
            return &items[i];
    }
    return NULL;
}

static bool is_other(const struct json *setting, const struct json *there)
{
    return there != NULL &&
           !str_eq(merged_text(setting, STR("value")), merged_text(there, STR("value")));
}

/* Servers with another value; says whether there are any. */
static bool put_elsewhere(struct json_writer *w, const struct json *setting,
                          const struct json *docs, size_t count)
{
    bool any = false;
    json_key(w, "elsewhere");
    json_open_array(w);
    for (size_t i = 0; i < count; i++) {
        const struct json *there = setting_of(&docs[i], merged_text(setting, STR("name")));
        if (!is_other(setting, there))
            continue;
        any = true;
        json_open(w);
        json_put_str(w, "server", merged_name(&docs[i]));
        json_put_str(w, "value", merged_text(there, STR("value")));
        json_put_str(w, "source", merged_text(there, STR("source")));
        json_put_text(w, "from", merged_text(there, STR("from")));
        json_close(w);
    }
    json_close_array(w);
    return any;
}

static void put_merged(struct json_writer *w, const struct json *setting, const struct json *docs,
                       size_t count)
{
    const struct json *own = json_get(setting, STR("own"));
    json_open(w);
    json_raw_members(w, setting->raw);
    bool any = put_elsewhere(w, setting, docs, count);
    json_put_bool(w, "differs", any && own != NULL && own->kind == JSON_BOOL && !own->boolean);
    json_close(w);
}

/* The part whose settings are shown; NULL: the server that was asked for gave none. */
static const struct json *shown_part(struct request *r, const struct json *docs, size_t count)
{
    struct str server;
    if (!http_request_param(r->http, STR("server"), &server))
        return &docs[0];
    const struct json *part = merged_part_of(docs, count, server);
    if (part == NULL)
        request_problem(r, 404, "no server called '%.*s' answers; GET /api/v1/cluster lists them",
                        STR_ARG(server));
    return part;
}

void api_settings_merge(struct request *r, const struct json *docs, size_t count)
{
    size_t settings;
    const struct json *part = shown_part(r, docs, count);
    if (part == NULL)
        return;
    const struct json *items = merged_items(part, STR("settings"), &settings);
    buf_free(&r->body);
    r->body = BUF(SETTINGS_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&r->body);
    json_open(&w);
    json_put_str(&w, "server", merged_name(part));
    json_key(&w, "servers");
    json_open_array(&w);
    for (size_t i = 0; i < count; i++)
        json_str(&w, merged_name(&docs[i]));
    json_close_array(&w);
    json_key(&w, "settings");
    json_open_array(&w);
    for (size_t i = 0; i < settings; i++)
        put_merged(&w, &items[i], docs, count);
    json_close_array(&w);
    merged_put_missing(&w, r, docs, count);
    json_close(&w);
    request_answer_body(r, 200);
}

#include "server/call/resolve.h"
#include "server/call/route_table.h"
#include "store/store.h"

enum {
    CANDIDATES_MAX = 10,
    CANDIDATES_BYTES_MAX = 512,
    SHOWN_MAX = 200,
    TEXTS_MAX = 100 /* as many as a call takes; each may look at thousands of ids */
};

#define FORCED "name:"

struct resolving {
    enum command_subject subject; /* ABOUT_NO_ID: the path is as it should be */
    struct str text;              /* what its id is given as, decoded */
    uint64_t id;
    struct str query;
    request_step *go_on;
};

static enum command_subject subject_of(const struct request *r)
{
    switch (route_facts(r->route).subject) {
    case ABOUT_JOB: return ABOUT_JOB;
    case ABOUT_EXEC:
    case ABOUT_LETTER: return ABOUT_EXEC;
    default: return ABOUT_NO_ID;
    }
}

static bool path_is_short(const struct request *r)
{
    return r->id.len > 0 && subject_of(r) != ABOUT_NO_ID && (r->by_name || !id_is_any(r->id));
}

/* Of what can be none the handler says what is wrong with it. Encoded. */
static bool may_be_part(struct str value)
{
    static const struct str beginnings[] = {STR_INIT(ID_EXEC), STR_INIT("..."), STR_INIT("…"),
                                            STR_INIT("%E2%80%A6"), STR_INIT("%e2%80%a6")};
    for (size_t i = 0; i < COUNT_OF(beginnings); i++) {
        if (str_starts(value, beginnings[i]))
            return true;
    }
    return false;
}

/* A parameter that has the place of an id and none there; else the text is empty. */
static struct str short_param(struct str param, bool *ret_is_exec)
{
    struct str value = param;
    struct str name = str_cut(&value, '=');
    *ret_is_exec = str_eq(name, STR("execution"));
    bool is_short = *ret_is_exec ? may_be_part(value) : str_eq(name, STR("job"));
    return is_short && !id_is_any(value) ? value : (struct str){0};
}

static bool query_is_short(const struct request *r)
{
    struct str rest = r->http->query;
    bool ignored;
    if (r->http->method != HTTP_METHOD_GET && r->http->method != HTTP_METHOD_HEAD)
        return false;
    while (rest.len > 0) {
        if (short_param(str_cut(&rest, '&'), &ignored).len > 0)
            return true;
    }
    return false;
}

bool resolve_is_needed(const struct request *r)
{
    return path_is_short(r) || query_is_short(r);
}

static enum rc refuse_several(struct request *r, struct str text, const char *field,
                              const char *prefix, const uint64_t *ids, size_t count)
{
    CLEANUP(buf_free) struct buf list = BUF(CANDIDATES_BYTES_MAX);
    struct field_errors *errors = ARENA_NEW(r->arena, struct field_errors);
    for (size_t i = 0; i < count && i < CANDIDATES_MAX; i++)
        buf_printf(&list, "%s%s", i == 0 ? "" : ", ", ID_TEXT(prefix, ids[i]));
    field_error(errors, r->arena, str_c(field), "'%.*s' may be any of %.*s%s", STR_ARG(text),
                STR_ARG(buf_str(&list)), count > CANDIDATES_MAX ? ", …" : "");
    r->errors = errors;
    return err_set(&r->err, RC_INVALID, "%s is not unique", field);
}

/* By a part of it. */
static enum rc find_part(struct request *r, struct reader *reader, struct str text,
                         const char *field, enum id_kind kind, uint64_t *ret_id)
{
    const char *prefix = kind == ID_KIND_JOB ? ID_JOB : ID_EXEC;
    const char *noun = kind == ID_KIND_JOB ? "job" : "execution";
    struct id_part part;
    uint64_t *ids;
    size_t count;
    struct str shown = str_head(text, SHOWN_MAX);
    if (!id_part_parse(text, prefix, &part))
        return err_set(&r->err, RC_NOT_FOUND, "there is no %s '%.*s': an id is %s and %d digits%s",
                       noun, STR_ARG(shown), prefix, ID_DIGITS,
                       kind == ID_KIND_JOB ? ", and no job has this name" : "");
    TRY(reader->ops->find_ids(reader, kind, &part, CANDIDATES_MAX + 1, r->arena, &ids, &count,
                              &r->err));
    if (count == 0)
        return err_set(&r->err, RC_NOT_FOUND, "no %s has '%.*s' in its id%s", noun, STR_ARG(shown),
                       kind == ID_KIND_JOB ? ", or as its name" : "");
    if (count > 1)
        return refuse_several(r, shown, field, prefix, ids, count);
    *ret_id = ids[0];
    return RC_OK;
}

enum rc resolve_job(struct request *r, struct reader *reader, struct str text, const char *field,
                    uint64_t *ret_id)
{
    struct str forced = STR(FORCED);
    if (id_parse(text, ID_JOB, ret_id, NULL) == RC_OK)
        return RC_OK;
    enum rc rc = reader->ops->find_named(reader, text, ret_id, &r->err);
    if (rc != RC_NOT_FOUND)
        return rc;
    if (str_starts(text, forced))
        return reader->ops->find_named(reader, str_from(text, forced.len), ret_id, &r->err);
    return find_part(r, reader, text, field, ID_KIND_JOB, ret_id);
}

static enum rc find_in_path(struct request *r, struct reader *reader, struct resolving *resolving)
{
    if (resolving->subject == ABOUT_NO_ID)
        return RC_OK;
    if (resolving->subject == ABOUT_EXEC)
        return find_part(r, reader, resolving->text, "id", ID_KIND_EXEC, &resolving->id);
    if (r->by_name)
        return reader->ops->find_named(reader, resolving->text, &resolving->id, &r->err);
    return resolve_job(r, reader, resolving->text, "id", &resolving->id);
}

static enum rc refuse_text(struct request *r, const char *field, struct str message)
{
    struct field_errors *errors = ARENA_NEW(r->arena, struct field_errors);
    field_error(errors, r->arena, str_c(field), "%.*s", STR_ARG(message));
    r->errors = errors;
    return RC_INVALID;
}

/* Of a parameter or a member. A list of nothing would look like an answer: the text is to blame. */
static enum rc find_text(struct request *r, struct reader *reader, const struct resolve_text *text,
                         uint64_t *ret_id)
{
    enum rc rc = text->is_exec ? find_part(r, reader, text->text, text->field, ID_KIND_EXEC, ret_id)
                               : resolve_job(r, reader, text->text, text->field, ret_id);
    if (rc != RC_NOT_FOUND)
        return rc;
    return refuse_text(r, text->field, arena_printf(r->arena, "is of nothing: %s", r->err.text));
}

/* The query with ids in it. */
static enum rc find_in_query(struct request *r, struct reader *reader, struct resolving *resolving)
{
    struct str rest = r->http->query;
    CLEANUP(buf_free) struct buf query = BUF(rest.len + TEXTS_MAX * ID_TEXT_MAX);
    size_t found = 0;
    if (!query_is_short(r))
        return RC_OK;
    while (rest.len > 0) {
        struct str param = str_cut(&rest, '&');
        struct resolve_text text = {.raw = param};
        struct str value = short_param(param, &text.is_exec);
        uint64_t id;
        text.field = text.is_exec ? "execution" : "job";
        buf_add(&query, query.len > 0 ? STR("&") : STR(""));
        if (value.len == 0 || !http_decode(r->arena, value, true, &text.text)) {
            buf_add(&query, param); /* a bad escape is the handler's to refuse */
            continue;
        }
        if (++found > TEXTS_MAX)
            return refuse_text(
                r, text.field,
                arena_printf(r->arena, "must not be there more than %d times", TEXTS_MAX));
        TRY(find_text(r, reader, &text, &id));
        buf_printf(&query, "%s=%s", text.field, ID_TEXT(text.is_exec ? ID_EXEC : ID_JOB, id));
    }
    resolving->query = arena_str(r->arena, buf_str(&query));
    return RC_OK;
}

static void look(struct request *r, struct reader *reader)
{
    r->rc = find_in_path(r, reader, r->own);
    if (r->rc == RC_OK)
        r->rc = find_in_query(r, reader, r->own);
}

/* The path of the route, with the ids in it. */
static struct str path_of(const struct request *r)
{
    struct str rest = r->route->path;
    struct str front = str_cut(&rest, '{');
    struct str middle = str_from(rest, 1); /* behind its } */
    struct str back = middle;
    middle = str_cut(&back, '{');
    if (back.ptr == NULL)
        return arena_printf(r->arena, "%.*s%.*s%.*s", STR_ARG(front), STR_ARG(r->id),
                            STR_ARG(middle));
    return arena_printf(r->arena, "%.*s%.*s%.*s%.*s%.*s", STR_ARG(front), STR_ARG(r->id),
                        STR_ARG(middle), STR_ARG(r->sub_id), STR_ARG(str_from(back, 1)));
}

static void take_ids(struct request *r)
{
    const struct resolving *resolving = r->own;
    r->own = NULL;
    if (resolving->subject != ABOUT_NO_ID) {
        char text[ID_TEXT_MAX];
        const char *prefix = command_id_prefix(resolving->subject);
        r->id = arena_str(r->arena, id_format(text, prefix, resolving->id));
        r->by_name = false;
        r->http->path = path_of(r);
    }
    if (resolving->query.len > 0)
        r->http->query = resolving->query;
    resolving->go_on(r);
}

void resolve_path(struct request *r, request_step *go_on)
{
    struct resolving *resolving = ARENA_NEW(r->arena, struct resolving);
    resolving->subject = path_is_short(r) ? subject_of(r) : ABOUT_NO_ID;
    resolving->go_on = go_on;
    if (!http_decode(r->arena, r->id, false, &resolving->text)) {
        request_problem(r, 400, "the path has a %% without two hexadecimal digits behind it");
        return;
    }
    r->own = resolving;
    request_to_query_first(r, look, take_ids);
}

/* ---- bodies */

struct resolving_body {
    const struct resolve_text *texts;
    size_t count;
    struct str body;
    request_step *go_on;
};

void resolve_add(struct request *r, struct resolve_texts *texts, const struct json *value,
                 bool is_exec, const char *field)
{
    if (value->kind != JSON_STRING || id_is_any(value->string))
        return;
    *VEC_PUSH(r->arena, &texts->all) = (struct resolve_text){
        .raw = value->raw, .text = value->string, .is_exec = is_exec, .field = field};
}

void resolve_add_member(struct request *r, struct resolve_texts *texts, const struct json *doc,
                        struct str key, bool is_exec, const char *field)
{
    const struct json *value = doc->kind == JSON_OBJECT ? json_get(doc, key) : NULL;
    if (value != NULL)
        resolve_add(r, texts, value, is_exec, field);
}

static enum rc find_in_body(struct request *r, struct reader *reader,
                            struct resolving_body *resolving)
{
    struct str rest = r->http->body;
    CLEANUP(buf_free) struct buf body = BUF(rest.len + TEXTS_MAX * ID_TEXT_MAX);
    for (size_t i = 0; i < resolving->count; i++) {
        const struct resolve_text *text = &resolving->texts[i];
        size_t before = (size_t)(text->raw.ptr - rest.ptr);
        uint64_t id;
        TRY(find_text(r, reader, text, &id));
        buf_add(&body, str_head(rest, before));
        buf_printf(&body, "\"%s\"", ID_TEXT(text->is_exec ? ID_EXEC : ID_JOB, id));
        rest = str_from(rest, before + text->raw.len);
    }
    buf_add(&body, rest);
    resolving->body = arena_str(r->arena, buf_str(&body));
    return RC_OK;
}

static void look_in_body(struct request *r, struct reader *reader)
{
    r->rc = find_in_body(r, reader, r->own);
}

static void take_body(struct request *r)
{
    const struct resolving_body *resolving = r->own;
    r->own = NULL;
    r->http->body = resolving->body;
    resolving->go_on(r);
}

void resolve_body(struct request *r, const struct resolve_texts *texts, request_step *go_on)
{
    if (texts->all.len == 0) {
        go_on(r);
        return;
    }
    if (texts->all.len > TEXTS_MAX) {
        (void)refuse_text(r, texts->all.items[TEXTS_MAX].field,
                          arena_printf(r->arena,
                                       "is one too many: a call looks for %d that are no "
                                       "ids",
                                       TEXTS_MAX));
        request_fail_fields(r, r->errors);
        return;
    }
    struct resolving_body *resolving = ARENA_NEW(r->arena, struct resolving_body);
    *resolving =
        (struct resolving_body){.texts = texts->all.items, .count = texts->all.len, .go_on = go_on};
    r->own = resolving;
    request_to_query_first(r, look_in_body, take_body);
}

#include "cli/apply_file.h"
#include "base/vec.h"
#include "cli/api.h"
#include "wire/json/json_tree.h"

enum { FILE_BYTES_MAX = 1 << 30, PATCH_BYTES_MAX = 4096 };

typedef VEC(struct json) documents;

/* ---- which documents there are */

static enum rc read_lines(struct cli *cli, struct str text, documents *docs, struct err *err)
{
    for (size_t number = 1; text.ptr != NULL; number++) {
        struct str line = str_trim(str_cut(&text, '\n'));
        struct json doc;
        if (line.len == 0)
            continue;
        if (json_parse_by(&json_from_user, line, &cli->arena, &doc, err) != RC_OK)
            return err_note(err, "line %zu", number);
        *VEC_PUSH(&cli->arena, docs) = doc;
    }
    return RC_OK;
}

static bool is_object(struct str line, struct arena *arena)
{
    struct json value;
    return json_parse_by(&json_from_user, line, arena, &value, NULL) == RC_OK &&
           value.kind == JSON_OBJECT;
}

/* A document over several lines that is broken has no document in its first line. */
static enum rc split(struct cli *cli, struct str text, documents *docs, struct err *err)
{
    struct json whole;
    struct str rest = str_trim(text);
    enum rc rc = json_parse_by(&json_from_user, text, &cli->arena, &whole, err);
    if (rc != RC_OK)
        return is_object(str_cut(&rest, '\n'), &cli->arena) ? read_lines(cli, text, docs, err) : rc;
    const struct json *jobs = json_get(&whole, STR("jobs"));
    if (jobs != NULL && whole.count > 1)
        return err_set(err, RC_INVALID, "beside \"jobs\" nothing else may stand");
    const struct json *list = jobs != NULL ? jobs : &whole;
    if (list->kind == JSON_OBJECT && jobs == NULL) {
        *VEC_PUSH(&cli->arena, docs) = whole;
        return RC_OK;
    }
    if (list->kind != JSON_ARRAY)
        return err_set(err, RC_INVALID, "it must be an array of jobs, or {\"jobs\": [...]}");
    for (size_t i = 0; i < list->count; i++)
        *VEC_PUSH(&cli->arena, docs) = list->items[i];
    return RC_OK;
}

/* ---- one of them */

/* The tag of ours would be in the way of a null for all of them. */
static enum rc check_tags(const struct json *doc, const char *set, bool whole, struct err *err)
{
    const struct json *tags = json_get(doc, STR("tags"));
    const struct json *tag = json_get(tags, STR(APPLY_TAG));
    if (tags != NULL && tags->kind != JSON_OBJECT && tags->kind != JSON_NULL)
        return err_set(err, RC_INVALID, "tags must be an object, not %s", json_value_name(tags));
    if (tag != NULL && (tag->kind != JSON_STRING || !str_eq(tag->string, str_c(set))))
        return err_set(err, RC_INVALID, "the tag " APPLY_TAG " is apply's own: use --set");
    if (tags != NULL && tags->kind == JSON_NULL && !whole)
        return err_set(err, RC_INVALID,
                       "tags must not be null: set each that is to go to null, or use --replace");
    return RC_OK;
}

static struct str tag_document(struct cli *cli, const struct json *doc, const char *set)
{
    CLEANUP(buf_free) struct buf patch_text = BUF(PATCH_BYTES_MAX);
    CLEANUP(buf_free) struct buf out = BUF(FILE_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&patch_text);
    struct json patch;
    json_open(&w);
    json_key(&w, "tags");
    json_open(&w);
    json_put_str(&w, APPLY_TAG, str_c(set));
    json_close(&w);
    json_close(&w);
    struct str text = arena_str(&cli->arena, buf_str(&patch_text));
    (void)json_parse(text, &cli->arena, &patch, NULL);
    w = JSON_WRITER(&out);
    json_merge(&w, doc, &patch, &cli->arena);
    return arena_str(&cli->arena, buf_str(&out));
}

/* Also within the payload, where a patch that comes later would take them away. */
static struct str without_nulls(struct cli *cli, struct str document)
{
    static const struct json_rules rules = {.any_number = true};
    CLEANUP(buf_free) struct buf out = BUF(FILE_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&out);
    struct json doc;
    if (json_parse_by(&rules, document, &cli->arena, &doc, NULL) != RC_OK)
        return document; /* the server says why */
    json_merge(&w, NULL, &doc, &cli->arena);
    return arena_str(&cli->arena, buf_str(&out));
}

static enum rc take_document(struct cli *cli, const struct json *doc, const char *set, bool whole,
                             struct apply_file *file, struct err *err)
{
    struct str name = api_text(doc, STR("name"));
    if (doc->kind != JSON_OBJECT)
        return err_set(err, RC_INVALID, "a job must be an object, not %s", json_value_name(doc));
    if (name.len == 0)
        return err_set(err, RC_INVALID, "every job needs a name, by which it is known");
    if (strmap_get(&file->names, name) != NULL)
        return err_set(err, RC_INVALID, "the name '%.*s' is there twice", STR_ARG(name));
    TRY(check_tags(doc, set, whole, err));
    struct apply_job *job = &file->jobs[file->count++];
    struct str document = tag_document(cli, doc, set);
    *job = (struct apply_job){name, document, whole ? document : without_nulls(cli, document)};
    strmap_put(&file->names, name, job);
    return RC_OK;
}

static enum rc take_all(struct cli *cli, struct str text, const char *set, bool whole,
                        struct apply_file *file, struct err *err)
{
    documents docs = {0};
    TRY(split(cli, text, &docs, err));
    file->jobs = ARENA_ARRAY(&cli->arena, struct apply_job, docs.len);
    for (size_t i = 0; i < docs.len; i++) {
        if (take_document(cli, &docs.items[i], set, whole, file, err) != RC_OK)
            return err_note(err, "job %zu", i + 1);
    }
    return RC_OK;
}

enum rc apply_file_read(struct cli *cli, const char *path, const char *set, bool whole,
                        struct apply_file *ret_file, struct err *err)
{
    struct str text;
    *ret_file = (struct apply_file){0};
    TRY(cli_read_file(cli, path, FILE_BYTES_MAX, &text, err));
    if (take_all(cli, text, set, whole, ret_file, err) == RC_OK)
        return RC_OK;
    err_note(err, "%s", path);
    return err->rc = RC_CORRUPT; /* a wrong file is not a matter of usage */
}

void apply_file_free(struct apply_file *file)
{
    strmap_free(&file->names);
}

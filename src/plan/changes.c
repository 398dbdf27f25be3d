#include "plan/changes.h"
#include "cli/apply_file.h"
#include "job/spec_scan.h"
#include "server/turn/rules.h"
#include "wire/json/json_tree.h"
#include "wire/spec/spec_json.h"

enum { DOCUMENT_BYTES_MAX = 64 << 20, HANDLERS_BYTES_MAX = 1 << 20 };

/* The set whose tag apply would leave: tags play no part in a plan. */
#define SET "default"

static enum rc refuse(const struct field_errors *errors, struct arena *arena, struct err *err)
{
    return err_set(err, RC_CORRUPT, "%.*s", STR_ARG(field_errors_text(errors, arena)));
}

/* ---- one that is there */

static enum rc merge(struct changes *changes, const struct world_job *job, struct str patch_text,
                     struct json *ret_doc, struct err *err)
{
    CLEANUP(buf_free) struct buf out = BUF(DOCUMENT_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&out);
    struct json old;
    struct json patch;
    TRY(json_parse_by(&json_from_server, job->rec.spec, &changes->arena, &old, err));
    TRY(json_parse_by(&json_from_user, patch_text, &changes->arena, &patch, err));
    json_merge(&w, &old, &patch, &changes->arena);
    struct str text = arena_str(&changes->arena, buf_str(&out));
    return json_parse_by(&json_from_user, text, &changes->arena, ret_doc, err);
}

static bool is_upstream_of(const struct world *world, const struct world_job *job,
                           const struct dependency_wish *wish)
{
    const struct world_job *named = wish->name.len > 0 ? world_job_named(world, wish->name) : NULL;
    uint64_t id = named != NULL ? named->rec.id : wish->job_id;
    for (size_t i = 0; i < world->dependencies.len; i++) {
        const struct dependency_rec *rec = &world->dependencies.items[i];
        if (rec->dependant == job->rec.id && rec->upstream == id && rec->type == wish->type)
            return true;
    }
    return false;
}

/* What a server refuses to change, too. The first is asked before the document is read, half of
 * which would be refused for the wrong reason. */
static enum rc check_recurs(const struct world_job *job, const struct json *doc, struct err *err)
{
    const struct json *schedule = json_get(doc, STR("schedule"));
    bool recurs =
        json_get(schedule, STR("every")) != NULL || json_get(schedule, STR("cron")) != NULL;
    if (recurs == (job->rules.schedule != NULL))
        return RC_OK;
    return err_set(err, RC_CORRUPT,
                   "a job that runs once cannot be made to recur, nor the other way round");
}

static enum rc check_upstreams(const struct world *world, const struct change *change,
                               struct err *err)
{
    for (size_t i = 0; i < change->spec.depends_count; i++) {
        if (!is_upstream_of(world, change->job, &change->spec.depends_on[i]))
            return err_set(err, RC_CORRUPT, "depends_on cannot be changed");
    }
    return RC_OK;
}

static bool differs_in(struct str old, struct str next, const char *key)
{
    return !str_eq(spec_scan(old, str_c(key)), spec_scan(next, str_c(key)));
}

/* Both are printed by this version: an older one may have known less to say. */
static void compare(struct change *change, const struct spec *old, struct arena *arena)
{
    struct str before = spec_text(old, arena);
    struct str next = change->item.spec;
    change->differs = !str_eq(before, next);
    change->replan = differs_in(before, next, "schedule") || differs_in(before, next, "dst");
}

/* ---- all of them */

static void add_handler(struct buf *handlers, struct str name)
{
    if (name.len == 0)
        return;
    if (handlers->len > 0)
        buf_add_char(handlers, '\n');
    buf_add(handlers, name);
}

static enum rc read_job(struct changes *changes, const struct world *world,
                        const struct apply_job *job, struct change *change, struct err *err)
{
    struct field_errors errors = {0};
    struct rules rules;
    struct spec old;
    struct json doc;
    struct world_job *there = world_job_named(world, job->name);
    bool is_new = there == NULL || job_is_over(there->rec.state);
    *change = (struct change){.job = is_new ? NULL : there, .name = job->name, .differs = true};
    TRY(is_new ? json_parse_by(&json_from_user, job->fresh, &changes->arena, &doc, err)
               : merge(changes, there, job->document, &doc, err));
    if (!is_new)
        TRY(check_recurs(there, &doc, err));
    if (spec_parse(&doc, &changes->arena, &change->spec, &errors) != RC_OK)
        return refuse(&errors, &changes->arena, err);
    if (!is_new) {
        TRY(spec_read(there->rec.spec, &changes->arena, &old, err));
        change->spec.tags = old.tags;
        change->spec.tag_count = old.tag_count;
        TRY(check_upstreams(world, change, err));
    }
    TRY(rules_make(world->zones, &change->spec, &changes->arena, &rules, err));
    change->item = rules_submission(&change->spec, &rules, STR("plan"), &changes->arena);
    change->item.payload = STR("");
    if (!is_new) {
        change->item.job_id = there->rec.id;
        change->item.depends_count = 0;
        compare(change, &old, &changes->arena);
    }
    if (change->spec.when == WHEN_PING)
        return RC_OK; /* it runs elsewhere */
    changes->added += is_new;
    changes->edited += !is_new && change->differs;
    return RC_OK;
}

static enum rc read_all(struct changes *changes, const struct world *world,
                        const struct apply_file *file, struct err *err)
{
    CLEANUP(buf_free) struct buf handlers = BUF(HANDLERS_BYTES_MAX);
    for (size_t i = 0; i < file->count; i++) {
        struct change *change = VEC_PUSH(&changes->arena, &changes->items);
        if (read_job(changes, world, &file->jobs[i], change, err) != RC_OK)
            return err_note(err, "job '%.*s'", STR_ARG(file->jobs[i].name));
        if (change->spec.when == WHEN_PING) {
            changes->items.len--;
            continue;
        }
        add_handler(&handlers, change->spec.handler);
    }
    changes->handlers = arena_str(&changes->arena, buf_str(&handlers));
    return RC_OK;
}

enum rc changes_read(struct changes *changes, struct cli *cli, const struct world *world,
                     const char *path, struct err *err)
{
    struct apply_file file;
    *changes = (struct changes){0};
    enum rc rc = apply_file_read(cli, path, SET, false, &file, err);
    if (rc == RC_OK && read_all(changes, world, &file, err) != RC_OK) {
        err_note(err, "%s", path);
        rc = err->rc = RC_CORRUPT;
    }
    apply_file_free(&file);
    return rc;
}

void changes_free(struct changes *changes)
{
    arena_free(&changes->arena);
}

#include "server/api/job_edit.h"
#include "server/api/job_document.h"
#include "wire/json/json_tree.h"
#include "wire/spec/spec_json.h"

enum { TEXT_BYTES_MAX = 64 << 20, DIFFERS_BYTES_MAX = 1024 };

/* ---- texts */

struct str job_edit_text(struct request *r, struct str spec, struct str payload)
{
    CLEANUP(buf_free) struct buf out = BUF(TEXT_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&out);
    json_open(&w);
    json_raw_members(&w, spec);
    if (payload.len > 0)
        json_put_raw(&w, "payload", payload);
    json_close(&w);
    return arena_str(r->arena, buf_str(&out));
}

/* RC_CORRUPT: the stored document cannot be read. */
static enum rc read_stored(struct request *r, const struct job_rec *job, struct spec *ret_spec,
                           struct json *ret_doc, struct err *err)
{
    if (spec_read(job->spec, r->arena, ret_spec, err) != RC_OK)
        return err->rc = RC_CORRUPT;
    /* As this version would write it: an older one may have known less to say. */
    struct str text = job_edit_text(r, spec_text(ret_spec, r->arena), job->payload);
    if (json_parse_by(&json_from_server, text, r->arena, ret_doc, err) != RC_OK)
        return err->rc = RC_CORRUPT;
    return RC_OK;
}

/* ---- payloads, which are otherwise carried unread */

/* Merged members may hold any number: it is copied as it is written. A key that stands twice has no
 * meaning for a merge, and is refused. */
static const struct json_rules merge_rules = {.any_number = true};

static bool is_object(const struct json *value)
{
    return value->kind == JSON_SPAN && value->raw.ptr[0] == '{';
}

/* Replaces the payload of doc by one that is read, so that it can be merged. */
static enum rc open_payload(struct request *r, struct json *doc, struct err *err)
{
    const struct json *span = json_get(doc, STR("payload"));
    struct json value;
    if (span == NULL || !is_object(span))
        return RC_OK;
    TRY(json_parse_by(&merge_rules, span->raw, r->arena, &value, err));
    struct json_member *members = ARENA_ARRAY(r->arena, struct json_member, doc->count);
    for (uint32_t i = 0; i < doc->count; i++) {
        members[i] = doc->members[i];
        if (&doc->members[i].value == span)
            members[i].value = value;
    }
    doc->members = members;
    return RC_OK;
}

/* Both as objects that can be merged; without a payload in the patch the stored one stays
 * unread. */
static enum rc open_payloads(struct request *r, struct json *old, struct json *patch,
                             struct err *err)
{
    const struct json *change = json_get(patch, STR("payload"));
    if (change == NULL || !is_object(change))
        return RC_OK;
    if (open_payload(r, patch, err) != RC_OK)
        return err_note(err, "the payload of the patch cannot be merged");
    if (open_payload(r, old, err) != RC_OK)
        return err_note(err, "the payload of the job cannot be merged; replace it with PUT");
    return RC_OK;
}

static enum rc apply_patch(struct request *r, struct json old, struct json patch,
                           struct json *ret_doc, struct err *err)
{
    CLEANUP(buf_free) struct buf out = BUF(TEXT_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&out);
    TRY(open_payloads(r, &old, &patch, err));
    json_merge(&w, &old, &patch, r->arena);
    if (out.overflow)
        return err_set(err, RC_TOO_LARGE, "the job would have more than %d bytes", TEXT_BYTES_MAX);
    struct str text = arena_str(r->arena, buf_str(&out));
    if (json_parse_by(&json_from_user, text, r->arena, ret_doc, err) != RC_OK)
        return err_note(err, "the job that the patch makes is no document");
    return RC_OK;
}

/* ---- what differs */

static void note(struct job_edit *edit, struct buf *names, struct str key)
{
    if (names->len > 0)
        buf_add(names, STR(", "));
    buf_add(names, key);
    edit->replan |=
        str_eq(key, STR("schedule")) || str_eq(key, STR("dst")) || str_eq(key, STR("expect"));
}

/* How a payload is written is no difference. What cannot be read (a key stands twice) is compared
 * as text. */
static bool is_same(struct request *r, const struct json *old, const struct json *next)
{
    struct json left;
    struct json right;
    if (old->kind != JSON_SPAN || next->kind != JSON_SPAN || str_eq(old->raw, next->raw) ||
        json_parse_by(&merge_rules, old->raw, r->arena, &left, NULL) != RC_OK ||
        json_parse_by(&merge_rules, next->raw, r->arena, &right, NULL) != RC_OK)
        return json_same(old, next, r->arena);
    return json_same(&left, &right, r->arena);
}

static enum rc compare(struct request *r, const struct json *old, struct job_edit *edit,
                       struct err *err)
{
    CLEANUP(buf_free) struct buf names = BUF(DIFFERS_BYTES_MAX);
    struct json next;
    struct str text = job_edit_text(r, edit->item.spec, edit->item.payload);
    TRY(json_parse_by(&json_from_server, text, r->arena, &next, err));
    for (size_t i = 0; i < old->count; i++) {
        const struct json *other = json_get(&next, old->members[i].key);
        if (other == NULL || !is_same(r, &old->members[i].value, other))
            note(edit, &names, old->members[i].key);
    }
    for (size_t i = 0; i < next.count; i++) {
        if (json_get(old, next.members[i].key) == NULL)
            note(edit, &names, next.members[i].key);
    }
    edit->differs = arena_str(r->arena, buf_str(&names));
    return RC_OK;
}

/* ---- what must not */

static const struct dependency_rec *find_upstream(const struct job_upstreams *upstreams,
                                                  uint64_t job_id)
{
    size_t low = 0;
    size_t high = upstreams->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (upstreams->items[middle].upstream == job_id)
            return &upstreams->items[middle];
        if (upstreams->items[middle].upstream < job_id)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* The job that was meant by a name when the waiting began: by now another one may have it. */
static const struct dependency_rec *find_wished(const struct job_upstreams *upstreams,
                                                const struct dependency_wish *wish)
{
    for (size_t i = 0; wish->name.len > 0 && i < upstreams->count; i++) {
        if (str_eq(upstreams->names[i], wish->name))
            return &upstreams->items[i];
    }
    return find_upstream(upstreams, wish->job_id);
}

static bool waits_for_same(const struct spec *spec, const struct job_upstreams *upstreams)
{
    for (size_t i = 0; i < spec->depends_count; i++) {
        const struct dependency_wish *wish = &spec->depends_on[i];
        const struct dependency_rec *rec = find_wished(upstreams, wish);
        if (rec == NULL || rec->type != wish->type)
            return false;
    }
    return spec->depends_count == upstreams->count;
}

static bool is_set(const struct json *doc, const char *key)
{
    const struct json *value = json_get(doc, str_c(key));
    return value != NULL && value->kind != JSON_NULL;
}

/* Before the document is read: half of its fields would be refused for the wrong reason. */
static enum rc check_recurs(struct request *r, const struct spec *old, const struct json *doc,
                            struct field_errors *errors)
{
    const struct json *schedule = json_get(doc, STR("schedule"));
    bool expects = is_set(doc, "expect");
    if (expects != (old->when == WHEN_PING)) {
        field_error(errors, r->arena, STR("expect"),
                    "cannot make a job expect pings that is run here, nor the other way round; "
                    "cancel the job and submit another");
        return RC_INVALID;
    }
    if (expects)
        return RC_OK; /* whatever else it says is refused for the right reason */
    bool says = schedule == NULL || schedule->kind == JSON_OBJECT || schedule->kind == JSON_NULL;
    bool recurs =
        json_get(schedule, STR("every")) != NULL || json_get(schedule, STR("cron")) != NULL;
    if (!says || recurs == spec_recurs(old))
        return RC_OK;
    field_error(errors, r->arena, STR("schedule"),
                "cannot make a job recur that runs once, nor the other way round; cancel the job "
                "and submit another");
    return RC_INVALID;
}

static enum rc check_kept(struct request *r, const struct job_rec *job, const struct spec *next,
                          bool waits_differ, struct field_errors *errors)
{
    if (!str_eq(next->name, job->name))
        field_error(errors, r->arena, STR("name"), "cannot be changed");
    if (waits_differ)
        field_error(errors, r->arena, STR("depends_on"),
                    "cannot be changed; cancel the job and submit another");
    return errors->count == 0 ? RC_OK : RC_INVALID;
}

/* The members of which a document has one. */
static const char *const work_members[] = {"command",    "handler", "http", "container",
                                           "kubernetes", "task",    NULL};
static const char *const schedule_members[] = {"at", "delay", "every", "cron", NULL};

/* A patch that sets another one of them leaves the old one beside it, unless that becomes null. */
static void check_union(struct request *r, const struct json *old, const struct json *patch,
                        const char *const *members, const char *at, struct field_errors *errors)
{
    const char *next = NULL;
    for (size_t i = 0; members[i] != NULL && next == NULL; i++)
        next = is_set(patch, members[i]) && !is_set(old, members[i]) ? members[i] : NULL;
    for (size_t i = 0; members[i] != NULL && next != NULL; i++) {
        if (is_set(old, members[i]) && json_get(patch, str_c(members[i])) == NULL)
            field_error(errors, r->arena, arena_printf(r->arena, "%s%s", at, members[i]),
                        "must be set to null when the patch sets %s%s", at, next);
    }
}

static enum rc check_unions(struct request *r, const struct json *old, const struct json *patch,
                            struct field_errors *errors)
{
    check_union(r, old, patch, work_members, "", errors);
    check_union(r, json_get(old, STR("schedule")), json_get(patch, STR("schedule")),
                schedule_members, "schedule.", errors);
    return errors->count == 0 ? RC_OK : RC_INVALID;
}

enum rc job_edit_make(struct request *r, const struct job_rec *job,
                      const struct job_upstreams *upstreams, const struct json *doc,
                      enum job_edit_kind kind, struct job_edit *ret_edit,
                      struct field_errors *errors, struct err *err)
{
    struct spec old;
    struct json stored;
    struct json merged;
    bool is_patch = kind == EDIT_PATCH;
    *ret_edit = (struct job_edit){0};
    TRY(read_stored(r, job, &old, &stored, err));
    if (is_patch)
        TRY(apply_patch(r, stored, *doc, &merged, err));
    const struct json *next = is_patch ? &merged : doc;
    TRY(check_recurs(r, &old, next, errors));
    if (is_patch)
        TRY(check_unions(r, &stored, doc, errors));
    TRY((is_patch ? job_document_read_patched : job_document_read)(r, next, &ret_edit->spec,
                                                                   &ret_edit->item, errors, err));
    bool silent = kind != EDIT_WHOLE && json_get(doc, STR("depends_on")) == NULL;
    bool waits_differ = !silent && !waits_for_same(&ret_edit->spec, upstreams);
    TRY(check_kept(r, job, &ret_edit->spec, waits_differ, errors));
    ret_edit->item.job_id = job->id;
    ret_edit->item.depends_count = 0;
    return compare(r, &stored, ret_edit, err);
}

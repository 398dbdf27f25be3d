#include "wire/spec/depends_json.h"
#include "base/id.h"
#include "job/spec.h"

static void read_job(const struct fields *f, const struct field_place *at, const struct json *value,
                     void *into)
{
    struct dependency_wish *wish = into;
    struct err ignored;
    struct str name = STR("name:");
    if (!fields_text(f, at, value, FIELD_LINE, 1, SPEC_NAME_MAX + (int64_t)name.len))
        return;
    struct str text = value->string;
    if (id_parse(text, ID_JOB, &wish->job_id, &ignored) == RC_OK)
        return;
    wish->job_id = 0;
    if (text.ptr[0] == '#' && str_to_u64(str_of(text.ptr + 1, text.len - 1), &wish->number))
        return;
    if (str_starts(text, name))
        wish->name = str_from(text, name.len);
    else if (text.ptr[0] != '#' && !id_is_any(text))
        wish->name = text;
    if (wish->name.len == 0)
        fields_fail(f, at,
                    "must be the id or the name of a job, or of the same batch #2 (the third)");
}

static const struct field wish_fields[] = {
    {.name = STR_INIT("job"), .kind = FIELD_OWN, .required = true, .read = read_job},
    {FIELD("type", struct dependency_wish, type), .kind = FIELD_ONE_OF,
     .words = &dependency_type_words},
};

static const struct dependency_wish blank = {.type = DEPENDS_SUCCESS};

const struct field_list depends_items = {
    .fields = wish_fields,
    .field_count = COUNT_OF(wish_fields),
    .item_bytes = sizeof(struct dependency_wish),
    .blank = &blank,
};

void dependencies_put(struct json_writer *w, const char *key, bool dependants,
                      const struct dependency_rec *dependencies, size_t count)
{
    json_key(w, key);
    json_open_array(w);
    for (size_t i = 0; i < count; i++) {
        const struct dependency_rec *d = &dependencies[i];
        json_open(w);
        json_put_id(w, "job", ID_JOB, dependants ? d->dependant : d->upstream);
        json_put_str(w, "type", dependency_type_name(d->type));
        json_put_str(w, "state", dependency_state_name(d->state));
        json_close(w);
    }
    json_close_array(w);
}

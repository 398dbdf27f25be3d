#include "server/call/shown.h"
#include "wire/json/json_keep.h"

static bool is_there(const struct shown_call *shown, struct str name)
{
    for (size_t i = 0; i < shown->count; i++) {
        if (str_eq(shown->keys[i], name))
            return true;
    }
    return false;
}

static void add_member(struct shown_call *shown, const struct shown_member *member, bool is_list)
{
    bool waits = is_list && member->kept == SHOWN_WAITS;
    shown->reads_apart |= member->kept == SHOWN_APART;
    shown->outcomes |= member->kept == SHOWN_OUTCOMES;
    shown->pace |= member->kept == SHOWN_PACE;
    shown->estimate |= member->kept == SHOWN_ASKED;
    shown->waits |= waits;
    if (waits || member->kept == SHOWN_OUTCOMES || member->kept == SHOWN_PACE)
        shown->costly = member->name;
}

static void add_name(struct request *r, const struct shown_members *members, bool is_list,
                     struct str *keys, struct str name, struct field_errors *errors)
{
    const struct shown_member *member = shown_find(members, name);
    if (member == NULL) {
        field_error(errors, r->arena, STR("fields"), "'%.*s' is not a field of %s",
                    STR_ARG(str_head(name, 64)), members->thing);
    } else if (is_list && (member->kept == SHOWN_OF_ONE || member->kept == SHOWN_ASKED)) {
        field_error(errors, r->arena, STR("fields"), "'%.*s' is shown of one %s, not in lists",
                    STR_ARG(name), members->thing);
    } else if (!is_there(&r->shown, member->name)) {
        keys[r->shown.count++] = member->name;
        add_member(&r->shown, member, is_list);
    }
}

void shown_read(struct request *r, const struct shown_members *members, bool is_list,
                struct field_errors *errors)
{
    struct str text;
    r->shown = (struct shown_call){.reads_apart = true};
    if (!http_request_param(r->http, STR("fields"), &text))
        return;
    struct str *keys = ARENA_ARRAY(r->arena, struct str, members->count);
    r->shown = (struct shown_call){.keys = keys};
    bool more;
    do {
        more = str_index(text, ',') < text.len;
        add_name(r, members, is_list, keys, str_cut(&text, ','), errors);
    } while (more && errors->count == 0);
    if (is_list && r->shown.costly.len > 0 && r->list.page.limit > SHOWN_READS_PAGE_MAX)
        field_error(errors, r->arena, STR("fields"),
                    "'%.*s' is shown in pages of at most %d: limit=%d", STR_ARG(r->shown.costly),
                    SHOWN_READS_PAGE_MAX, SHOWN_READS_PAGE_MAX);
}

bool shown_read_alone(struct request *r, const struct shown_members *members)
{
    static const char *const names[] = {"fields", NULL};
    struct field_errors errors = {0};
    if (!request_params_known(r, names))
        return false;
    shown_read(r, members, false, &errors);
    if (errors.count > 0)
        request_fail_fields(r, &errors);
    return errors.count == 0;
}

void shown_keep(struct request *r, size_t from)
{
    if (r->shown.keys == NULL || r->body.overflow)
        return;
    while (r->body.ptr[from] != '{')
        from++;
    json_keep(&r->body, from, r->shown.keys, r->shown.count);
}

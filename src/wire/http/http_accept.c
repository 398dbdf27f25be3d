/* What a client takes (Accept and Accept-Encoding; RFC 9110, 12.5), and what it has (If-None-Match,
 * 13.1.2). Parameters other than q say nothing about what we serve and are passed over, and so is a
 * weight between 0 and 1: there is never more than one type to choose from. */
#include "wire/http/http.h"

/* How closely a range is about a type: 3 the type itself, 2 all of its kind, 1 all there are,
 * 0 not at all. */
static int closeness(struct str range, struct str type)
{
    struct str major = str_of(type.ptr, str_index(type, '/') + 1);
    if (str_eq_nocase(range, type))
        return 3;
    if (range.len == major.len + 1 && range.ptr[major.len] == '*' &&
        str_eq_nocase(str_of(range.ptr, major.len), major))
        return 2;
    return str_eq(range, STR("*/*"));
}

/* "q=0", "q=0.0" and the like among the parameters. */
static bool is_excluded(struct str params)
{
    while (params.len > 0) {
        struct str value = str_trim(str_cut(&params, ';'));
        struct str key = str_trim(str_cut(&value, '='));
        value = str_trim(value);
        if (!str_eq_nocase(key, STR("q")) || value.len == 0)
            continue;
        for (size_t i = 0; i < value.len; i++) {
            if (value.ptr[i] != '0' && value.ptr[i] != '.')
                return false;
        }
        return true;
    }
    return false;
}

bool http_request_accepts(const struct http_request *req, struct str type)
{
    bool asked = false;
    bool accepted = false;
    int closest = 0;
    for (size_t i = 0; i < req->header_count; i++) {
        struct str ranges = req->headers[i].value;
        if (!str_eq_nocase(req->headers[i].name, STR("accept")))
            continue;
        asked = asked || ranges.len > 0; /* an empty one says nothing */
        while (ranges.len > 0) {
            struct str params = str_cut(&ranges, ',');
            int close = closeness(str_trim(str_cut(&params, ';')), type);
            if (close <= closest)
                continue;
            closest = close;
            accepted = !is_excluded(params);
        }
    }
    return !asked || accepted;
}

bool http_request_takes_coding(const struct http_request *req, struct str coding)
{
    bool by_name = false;
    bool excluded = false;
    bool by_star = false;
    for (size_t i = 0; i < req->header_count; i++) {
        struct str ranges = req->headers[i].value;
        if (!str_eq_nocase(req->headers[i].name, STR("accept-encoding")))
            continue;
        while (ranges.len > 0) {
            struct str params = str_cut(&ranges, ',');
            struct str range = str_trim(str_cut(&params, ';'));
            bool taken = !is_excluded(params);
            if (str_eq_nocase(range, coding))
                *(taken ? &by_name : &excluded) = true;
            by_star |= taken && str_eq(range, STR("*"));
        }
    }
    return (by_name || by_star) && !excluded;
}

static bool has_tag(struct str tags, struct str tag)
{
    struct str weak = STR("W/");
    while (tags.len > 0) {
        struct str one = str_trim(str_cut(&tags, ',')); /* none of ours has a comma in it */
        if (str_eq(one, STR("*")))
            return true;
        if (str_starts(one, weak)) /* as proxies make of it when they pack it */
            one = str_from(one, weak.len);
        if (str_eq(one, tag))
            return true;
    }
    return false;
}

bool http_request_has_tag(const struct http_request *req, struct str tag)
{
    for (size_t i = 0; i < req->header_count; i++) {
        if (str_eq_nocase(req->headers[i].name, STR("if-none-match")) &&
            has_tag(req->headers[i].value, tag))
            return true;
    }
    return false;
}

#include "job/spec_scan.h"

/* Behind the string that begins at `at`, with its quotes. */
static size_t skip_string(struct str text, size_t at)
{
    for (at++; at < text.len && text.ptr[at] != '"'; at++) {
        if (text.ptr[at] == '\\')
            at++;
    }
    return at + 1;
}

/* Behind the value that begins at `at`: where a comma follows, or the end of the object. */
static size_t skip_value(struct str text, size_t at)
{
    size_t depth = 0;
    while (at < text.len) {
        char c = text.ptr[at];
        if (depth == 0 && (c == ',' || c == '}'))
            break;
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        at = c == '"' ? skip_string(text, at) : at + 1;
    }
    return at < text.len ? at : text.len;
}

struct str spec_scan(struct str text, struct str key)
{
    size_t at = 1; /* behind the brace */
    while (at < text.len && text.ptr[at] == '"') {
        size_t colon = skip_string(text, at);
        if (colon >= text.len)
            break;
        size_t end = skip_value(text, colon + 1);
        struct str name = str_of(text.ptr + at + 1, colon - at - 2);
        if (str_eq(name, key))
            return str_of(text.ptr + colon + 1, end - colon - 1);
        at = end + 1;
    }
    return (struct str){0};
}

bool spec_scan_recurs(struct str text)
{
    struct str schedule = spec_scan(text, STR("schedule"));
    return spec_scan(text, STR("expect")).len > 0 || spec_scan(schedule, STR("cron")).len > 0 ||
           spec_scan(schedule, STR("every")).len > 0;
}

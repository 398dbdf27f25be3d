#include "job/time/ical_line.h"

#include <string.h>

static struct str take_part(struct ical_source *source)
{
    struct str part = str_cut(&source->rest, '\n');
    source->line++;
    if (part.len > 0 && part.ptr[part.len - 1] == '\r')
        part.len--;
    return part;
}

static bool is_folded(const struct ical_source *source)
{
    struct str rest = source->rest;
    return rest.len > 0 && (rest.ptr[0] == ' ' || rest.ptr[0] == '\t');
}

/* How much room a line needs, folds and all. */
static size_t folded_len(const struct ical_source *source)
{
    struct ical_source ahead = *source;
    size_t len = 0;
    while (ahead.rest.ptr != NULL && is_folded(&ahead))
        len += take_part(&ahead).len;
    return len;
}

static struct str unfold(struct ical_source *source, struct str first)
{
    if (!is_folded(source))
        return first;
    char *text = arena_bytes(source->arena, first.len + folded_len(source));
    size_t len = first.len;
    memcpy(text, first.ptr, first.len);
    while (source->rest.ptr != NULL && is_folded(source)) {
        struct str part = str_from(take_part(source), 1);
        memcpy(text + len, part.ptr, part.len);
        len += part.len;
    }
    return str_of(text, len);
}

/* Where the value begins: behind the first colon that is not in quotes. */
static bool split(struct str text, struct ical_line *line)
{
    size_t name_len = 0;
    while (name_len < text.len && text.ptr[name_len] != ';' && text.ptr[name_len] != ':')
        name_len++;
    bool quoted = false;
    size_t colon = name_len;
    for (; colon < text.len && (quoted || text.ptr[colon] != ':'); colon++)
        quoted ^= text.ptr[colon] == '"';
    line->name = str_of(text.ptr, name_len);
    line->params = str_of(text.ptr + name_len, colon - name_len);
    line->value = str_from(text, colon + 1);
    return name_len > 0 && colon < text.len;
}

enum rc ical_next(struct ical_source *source, struct ical_line *ret_line, bool *ret_more,
                  struct err *err)
{
    struct str part = {0};
    while (part.len == 0 && source->rest.ptr != NULL)
        part = take_part(source);
    *ret_more = part.len > 0;
    if (part.len == 0)
        return RC_OK;
    ret_line->number = source->line;
    if (split(unfold(source, part), ret_line))
        return RC_OK;
    return err_set(err, RC_INVALID, "line %zu: not a line of iCalendar, as in NAME:VALUE",
                   ret_line->number);
}

bool ical_is(const struct ical_line *line, const char *name)
{
    return str_eq_nocase(line->name, str_c(name));
}

bool ical_is_begin(const struct ical_line *line, const char *component)
{
    return ical_is(line, "BEGIN") &&
           (component == NULL || str_eq_nocase(line->value, str_c(component)));
}

bool ical_is_end(const struct ical_line *line)
{
    return ical_is(line, "END");
}

enum rc ical_fail_end(const struct ical_source *source, struct err *err)
{
    return err_set(err, RC_INVALID, "line %zu: the file ends before its END:VCALENDAR",
                   source->line);
}

enum rc ical_skip(struct ical_source *source, struct err *err)
{
    struct ical_line line;
    bool more;
    for (size_t depth = 1; depth > 0;) {
        if (ical_next(source, &line, &more, NULL) != RC_OK)
            continue; /* of no interest either */
        if (!more)
            return ical_fail_end(source, err);
        depth += ical_is_begin(&line, NULL);
        depth -= ical_is_end(&line);
    }
    return RC_OK;
}

struct str ical_param(const struct ical_line *line, struct str name)
{
    struct str rest = line->params;
    while (rest.len > 0) {
        bool quoted = false;
        size_t len = 1; /* behind the semicolon */
        for (; len < rest.len && (quoted || rest.ptr[len] != ';'); len++)
            quoted ^= rest.ptr[len] == '"';
        struct str value = str_of(rest.ptr + 1, len - 1);
        struct str key = str_cut(&value, '=');
        if (value.len >= 2 && value.ptr[0] == '"' && value.ptr[value.len - 1] == '"')
            value = str_of(value.ptr + 1, value.len - 2);
        if (str_eq_nocase(key, name))
            return value;
        rest = str_from(rest, len);
    }
    return STR("");
}

struct str ical_text(struct str value, struct arena *arena)
{
    char *text = arena_bytes(arena, value.len);
    size_t len = 0;
    for (size_t i = 0; i < value.len; i++) {
        char c = value.ptr[i];
        if (c == '\\' && i + 1 < value.len) {
            c = value.ptr[++i];
            if (c == 'n' || c == 'N')
                c = '\n';
        }
        text[len++] = c;
    }
    return str_of(text, len);
}

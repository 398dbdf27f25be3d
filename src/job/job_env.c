#include "job/job_env.h"

#include <ctype.h>

static const struct str always[] = {
    STR_INIT("PATH"), STR_INIT("HOME"), STR_INIT("USER"),   STR_INIT("LANG"),
    STR_INIT("LC_*"), STR_INIT("TZ"),   STR_INIT("TMPDIR"),
};

static bool is_name(struct str s)
{
    if (s.len > 0 && s.ptr[s.len - 1] == '*')
        s.len--;
    else if (s.len == 0)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (c >= 0x80 || (!isalnum(c) && c != '_') || (i == 0 && isdigit(c)))
            return false;
    }
    return true;
}

enum rc job_env_check(struct str list, struct err *err)
{
    while (list.len > 0) {
        struct str name = str_trim(str_cut(&list, ','));
        if (!is_name(name))
            return err_set(err, RC_INVALID, "'%.*s' is no name of a variable", STR_ARG(name));
    }
    return RC_OK;
}

static bool matches(struct str pattern, struct str name)
{
    if (pattern.len > 0 && pattern.ptr[pattern.len - 1] == '*')
        return str_starts(name, str_of(pattern.ptr, pattern.len - 1));
    return str_eq(pattern, name);
}

static bool list_has(struct str list, struct str name)
{
    while (list.len > 0) {
        if (matches(str_trim(str_cut(&list, ',')), name))
            return true;
    }
    return false;
}

bool job_env_allows(struct str name, const struct str *lists, size_t list_count)
{
    if (str_starts(name, STR("BELFRY_")))
        return false;
    for (size_t i = 0; i < COUNT_OF(always); i++) {
        if (matches(always[i], name))
            return true;
    }
    for (size_t i = 0; i < list_count; i++) {
        if (list_has(lists[i], name))
            return true;
    }
    return false;
}

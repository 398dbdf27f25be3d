#include "base/words.h"

#include <assert.h>

enum { LIST_BYTES_MAX = 4096 }; /* more than a message should be made of */

struct str words_name(const struct words *words, unsigned value)
{
    assert(value < words->count && words->names[value] != NULL);
    return str_c(words->names[value]);
}

bool words_parse(const struct words *words, struct str name, unsigned *ret_value)
{
    for (size_t i = 0; i < words->count; i++) {
        if (words->names[i] != NULL && str_eq(str_c(words->names[i]), name)) {
            *ret_value = (unsigned)i;
            return true;
        }
    }
    return false;
}

/* The value named at this place of a message; NULL: a hole in the names. */
static const char *name_at(const struct words *words, size_t place)
{
    return words->names[words->order == NULL ? place : words->order[place]];
}

void words_join(const struct words *words, const char *between, const char *last, struct buf *out)
{
    size_t places = words->order == NULL ? words->count : words->order_count;
    const char *held = NULL; /* the newest word: whether it is the last one shows at the end */
    size_t said = 0;
    for (size_t i = 0; i < places; i++) {
        const char *name = name_at(words, i);
        if (name == NULL)
            continue;
        if (held != NULL)
            buf_printf(out, "%s%s", said++ > 0 ? between : "", held);
        held = name;
    }
    if (held != NULL)
        buf_printf(out, "%s%s", said > 0 ? last : "", held);
}

static struct str joined(const struct words *words, const char *between, const char *last,
                         struct arena *arena)
{
    CLEANUP(buf_free) struct buf out = BUF(LIST_BYTES_MAX);
    words_join(words, between, last, &out);
    return arena_str(arena, buf_str(&out));
}

struct str words_text(const struct words *words, struct arena *arena)
{
    return joined(words, ", ", " and ", arena);
}

struct str words_choices(const struct words *words, struct arena *arena)
{
    return joined(words, "|", "|", arena);
}

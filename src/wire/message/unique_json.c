#include "wire/message/unique_json.h"

#define WHILE_WORDS                                                                                \
    "must be [\"queued\"] (until its first start) or [\"queued\", \"running\"] (until it is over)"

/* Words of `while`. A scheduled or blocked execution waits to start as a queued one does, and a
 * retrying one has started; finer distinctions would let a key go and want it back. */
enum { QUEUED = 1, RUNNING = 2 };

static void read_while(const struct fields *f, const struct field_place *at,
                       const struct json *value, void *into)
{
    struct unique_rule *rule = into;
    unsigned seen = 0;
    if (!fields_kind(f, at, value, JSON_ARRAY))
        return;
    for (size_t i = 0; i < value->count; i++) {
        struct field_place place = {.parent = at, .index = i};
        const struct json *word = &value->items[i];
        if (!fields_kind(f, &place, word, JSON_STRING))
            return;
        unsigned bit = str_eq(word->string, STR("queued"))    ? QUEUED
                       : str_eq(word->string, STR("running")) ? RUNNING
                                                              : 0;
        if (bit == 0)
            fields_fail(f, &place,
                        "must be queued (waits for its first start: also scheduled and blocked) or "
                        "running (has started: also retrying)");
        else if ((seen & bit) != 0)
            fields_fail(f, &place, "must not be there twice");
        if (bit == 0)
            return;
        seen |= bit;
    }
    if (seen == RUNNING)
        fields_fail(f, at,
                    "must have queued, too: one at a time that runs is what `concurrency` "
                    "with a limit of 1 does");
    else if (seen == 0)
        fields_fail(f, at, WHILE_WORDS);
    rule->until_start = seen == QUEUED;
}

void unique_read(const struct fields *f, const struct field_place *at, const struct json *value,
                 void *into)
{
    static const struct field unique_fields[] = {
        {FIELD("key", struct unique_rule, key), .kind = FIELD_LINE, .required = true, .min = 1,
         .max = SPEC_NAME_MAX},
        {.name = STR_INIT("while"), .kind = FIELD_OWN, .read = read_while},
        {FIELD("on_conflict", struct unique_rule, on_conflict), .kind = FIELD_ONE_OF,
         .words = &on_conflict_words},
    };
    fields_read(f, at, value, unique_fields, COUNT_OF(unique_fields), into);
}

void unique_put(struct json_writer *w, const struct unique_rule *rule)
{
    if (rule->key.len == 0)
        return;
    json_key(w, "unique");
    json_open(w);
    json_put_str(w, "key", rule->key);
    json_key(w, "while");
    json_open_array(w);
    json_str(w, STR("queued"));
    if (!rule->until_start)
        json_str(w, STR("running"));
    json_close_array(w);
    json_put_str(w, "on_conflict", words_name(&on_conflict_words, rule->on_conflict));
    json_close(w);
}

#include "wire/spec/unique_json.h"
#include "base/when.h"

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
    enum { KEY, WHILE, KEEP, ON_CONFLICT };
    static const struct field unique_fields[] = {
        [KEY] = {FIELD("key", struct unique_rule, key), .kind = FIELD_LINE, .required = true,
                 .min = 1, .max = SPEC_NAME_MAX},
        [WHILE] = {.name = STR_INIT("while"), .kind = FIELD_OWN, .read = read_while},
        [KEEP] = {FIELD("keep", struct unique_rule, keep_ms), .kind = FIELD_DURATION, .min = 0,
                  .max = DURATION_MAX_MS},
        [ON_CONFLICT] = {FIELD("on_conflict", struct unique_rule, on_conflict),
                         .kind = FIELD_ONE_OF, .words = &on_conflict_words},
    };
    struct unique_rule *rule = into;
    uint64_t seen = fields_read(f, at, value, unique_fields, COUNT_OF(unique_fields), rule);
    rule->has_keep = fields_seen(seen, KEEP);
    if (rule->has_keep && rule->until_start) {
        struct field_place keep = {.parent = at, .key = STR("keep")};
        fields_fail(
            f, &keep,
            "needs running in while: a key that is let go at the first start cannot be kept "
            "after success");
    }
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
    char keep[WHEN_TEXT_MAX];
    if (rule->has_keep)
        json_put_str(w, "keep", duration_format(keep, rule->keep_ms));
    json_put_str(w, "on_conflict", words_name(&on_conflict_words, rule->on_conflict));
    json_close(w);
}

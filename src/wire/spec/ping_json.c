#include "wire/spec/ping_json.h"

enum outcome_word { SUCCESS, FAILURE };
static const struct words outcome_words = WORDS([SUCCESS] = "success", [FAILURE] = "failure");

struct document {
    struct ping ping;
    unsigned outcome; /* enum outcome_word */
};

/* The newest part, from the beginning of a character on. */
static void read_output(const struct fields *f, const struct field_place *at,
                        const struct json *value, void *into)
{
    struct ping *ping = &((struct document *)into)->ping;
    if (!fields_kind(f, at, value, JSON_STRING))
        return;
    struct str text = value->string;
    size_t from = text.len > PING_OUTPUT_MAX ? text.len - PING_OUTPUT_MAX : 0;
    while (from > 0 && from < text.len && ((unsigned char)text.ptr[from] & 0xc0) == 0x80)
        from++;
    ping->output = str_from(text, from);
    ping->dropped_bytes = (int64_t)from;
}

enum rc ping_parse(const struct json *doc, struct arena *arena, struct ping *ret_ping,
                   struct field_errors *errors)
{
    struct document document = {.ping = {.exit_code = -1}};
    static const struct field ping_fields[] = {
        {FIELD("outcome", struct document, outcome), .kind = FIELD_ONE_OF, .words = &outcome_words,
         .required = true},
        {FIELD("started_at", struct document, ping.started_ms), .kind = FIELD_WHEN, .min = 1},
        {FIELD("exit_code", struct document, ping.exit_code), .kind = FIELD_INT, .max = 255},
        {.name = STR_INIT("output"), .kind = FIELD_OWN, .read = read_output},
    };
    const struct fields f = {.arena = arena, .errors = errors};
    fields_read(&f, NULL, doc, ping_fields, COUNT_OF(ping_fields), &document);
    *ret_ping = document.ping;
    ret_ping->failed = document.outcome == FAILURE;
    return errors->count == 0 ? RC_OK : RC_INVALID;
}

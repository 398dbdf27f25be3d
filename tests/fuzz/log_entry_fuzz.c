/* Whatever stands in a value, a line of the log is one line, and as JSON one object whose members are those
 * that were given. */
#include "base/log_entry.h"
#include "fuzz.h"
#include "wire/json/json.h"

#include <string.h>

/* Bytes that are no UTF-8 come back as the characters of their number, and a NUL as one for what
 * cannot be shown. */
static void assert_same(struct str given, const struct json *member)
{
    assert(member != NULL && member->kind == JSON_STRING);
    bool is_text = str_is_utf8(given) && str_index(given, '\0') == given.len;
    assert(!is_text || str_eq(given, member->string));
}

static void check_json(struct str line, const struct log_field *fields, size_t count)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct json doc;
    assert(json_parse(line, &arena, &doc, NULL) == RC_OK && doc.kind == JSON_OBJECT);
    assert(doc.count == 4 + count);
    for (size_t i = 0; i < count; i++)
        assert_same(fields[i].value, json_get(&doc, str_c(fields[i].key)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char bytes[LOG_ENTRY_MAX];
    struct str text = fuzz_text(data, size < 600 ? size : 600); /* six bytes for each, twice */
    const struct log_field fields[] = {{"first", text, false},
                                       {"second", str_from(text, text.len / 2), false}};
    struct log_entry line = {
        .who = "server", .message = "a sentence", .fields = fields, .count = COUNT_OF(fields)};
    for (enum log_format f = LOG_JSON; f <= LOG_LOGFMT; f++) {
        line.format = f;
        size_t len = log_entry_print(&line, bytes);
        assert(memchr(bytes, '\n', len) == bytes + len - 1);
        assert(memchr(bytes, '\r', len) == NULL && memchr(bytes, '\0', len) == NULL);
        assert(str_is_utf8(str_of(bytes, len)));
        if (f == LOG_JSON)
            check_json(str_of(bytes, len), fields, COUNT_OF(fields));
    }
    return 0;
}

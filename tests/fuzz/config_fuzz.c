/* A config file from anywhere: whatever was accepted names settings that exist, once each, with
 * values within their ranges. */
#include "fuzz.h"
#include "server/config/settings.h"
#include "wire/json/json.h"

#include <stdlib.h>

static unsigned choice(const struct server_options *options, const struct setting *s)
{
    return *(const unsigned *)(const void *)((const char *)options + s->offset);
}

static void check(const struct server_options *options, const struct setting *s)
{
    switch (s->kind) {
    case SETTING_NUMBER:
    case SETTING_BYTES:
    case SETTING_TIME:
        assert(settings_quantity(options, s) >= s->min);
        assert(settings_quantity(options, s) <= s->max);
        break;
    case SETTING_CHOICE: assert(choice(options, s) < 8); break;
    case SETTING_TEXT:
    case SETTING_BOOL: break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct server_options options = {0};
    struct err err = {0};
    struct str text = fuzz_text(data, size);
    settings_defaults(&options, &arena);
    if (settings_from_config(&options, text, &arena, &err) != RC_OK) {
        assert(err.text[0] != '\0');
        return 0;
    }
    struct json document;
    enum rc rc = json_parse(text, &arena, &document, NULL);
    assert(rc == RC_OK && document.kind == JSON_OBJECT);
    for (size_t i = 0; i < document.count; i++) {
        const struct setting *s = settings_find(document.members[i].key);
        assert(s != NULL);
        check(&options, s);
    }
    return 0;
}

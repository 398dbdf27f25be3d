/* Whatever a crontab holds, each entry becomes a document that reads back as the same command and
 * expression (or is refused for its size alone), names differ, and remarks come line by line. */
#include "cli/crontab.h"
#include "cli/crontab_document.h"
#include "fuzz.h"
#include "wire/spec/spec_json.h"

static void check_document(const struct crontab_entry *entry, struct arena *arena)
{
    struct spec spec;
    struct str document = crontab_document(entry, arena);
    struct json json;
    enum rc rc = json_parse(document, arena, &json, NULL);
    assert(rc == RC_OK);
    if (spec_read(document, arena, &spec, NULL) != RC_OK)
        return; /* a name of a variable over 200 bytes, a field with control characters */
    assert(str_eq(spec.cron_text, entry->cron));
    assert(str_eq(spec.argv[spec.argc - (entry->input.len > 0 ? 2 : 1)], entry->command));
    assert(spec.env_count == entry->env_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct crontab_options options = {
        .system = size > 0 && (data[0] & 1) != 0, .timezone = STR("UTC"), .prefix = STR("fuzz")};
    struct crontab crontab;
    if (crontab_parse(fuzz_text(data, size), &options, &arena, &crontab, NULL) != RC_OK)
        return 0;
    size_t refused = 0;
    for (size_t i = 0; i < crontab.remark_count; i++) {
        refused += crontab.remarks[i].refused;
        assert(crontab.remarks[i].text.len > 0);
        assert(i == 0 || crontab.remarks[i - 1].line <= crontab.remarks[i].line);
    }
    assert(refused == crontab.refused_count);
    for (size_t i = 0; i < crontab.entry_count; i++) {
        const struct crontab_entry *entry = &crontab.entries[i];
        assert(i == 0 || (entry[-1].line < entry->line && !str_eq(entry[-1].name, entry->name)));
        check_document(entry, &arena);
    }
    return 0;
}

#include "server/turn/rules_memo.h"
#include "wire/spec/spec_json.h"

enum { SPECS_MAX = 1024, TEXT_MAX = 1024 }; /* some 3 MB of those that are usual */

static bool is_full(const struct rules_memo *m)
{
    return m->specs.len >= SPECS_MAX;
}

enum rc rules_memo_read(struct rules_memo *m, struct str text, struct arena *arena,
                        struct spec *ret_spec, struct err *err)
{
    const struct spec *known = strmap_get(&m->specs, text);
    if (known != NULL) {
        *ret_spec = *known;
        return RC_OK;
    }
    if (is_full(m) || text.len > TEXT_MAX)
        return spec_read(text, arena, ret_spec, err);
    struct str kept = arena_str(&m->arena, text);
    TRY(spec_read(kept, &m->arena, ret_spec, err));
    struct spec *spec = ARENA_NEW(&m->arena, struct spec);
    *spec = *ret_spec;
    strmap_put(&m->specs, kept, spec);
    return RC_OK;
}

void rules_memo_tidy(struct rules_memo *m)
{
    if (is_full(m))
        rules_memo_free(m);
}

void rules_memo_free(struct rules_memo *m)
{
    strmap_free(&m->specs);
    arena_free(&m->arena);
}

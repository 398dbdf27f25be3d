/* What a store says about itself. */
#include "world.h"

PROMISE(a_store_says_what_and_where_it_is)
{
    struct world *w = *state;
    struct store_about about;
    assert_rc(w->reader->ops->about(w->reader, &w->arena, &about, &w->err), RC_OK);
    assert_true(about.kind != NULL && about.place.len > 0);
    for (size_t i = 0; i < about.count; i++) {
        assert_true(about.facts[i].value.len > 0);
        assert_true(str_eq(store_about_get(&about, about.facts[i].name), about.facts[i].value));
    }
    assert_null(store_about_get(&about, "no such thing").ptr);
    if (str_eq(str_c(about.kind), STR("sqlite")))
        assert_true(str_eq(store_about_get(&about, "journal_mode"), STR("wal")));
    if (str_eq(str_c(about.kind), STR("postgres")))
        assert_true(about.now_ms > 0 && store_about_get(&about, "fsync").len > 0);
}

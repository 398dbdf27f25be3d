#include "filled.h"

void fill(struct world *w, const struct fields *fields, unsigned groups, int64_t shift,
          void *record)
{
    for (size_t i = 0; i < fields->len; i++) {
        const struct field *f = &fields->items[i];
        int64_t number = (f->min < 0 ? 0 : f->min) + 1 + (int64_t)i + shift;
        if (!field_is_in(f, groups))
            continue;
        if (f->kind == FIELD_TEXT)
            field_set_text(f, record, arena_printf(&w->arena, "%s %d", f->column, (int)shift));
        else
            field_set_number(f, record, number > f->max ? f->max : number);
    }
}

void fill_usual(const struct fields *fields, void *record)
{
    for (size_t i = 0; i < fields->len; i++) {
        const struct field *f = &fields->items[i];
        if ((f->groups & FIELD_TOLD) != 0)
            continue;
        if (f->kind == FIELD_TEXT)
            field_set_text(f, record, (struct str){0});
        else
            field_set_number(f, record, f->usual);
    }
}

void assert_same(const struct fields *fields, unsigned groups, const void *got, const void *want)
{
    for (size_t i = 0; i < fields->len; i++) {
        const struct field *f = &fields->items[i];
        if (!field_is_in(f, groups))
            continue;
        bool same = f->kind == FIELD_TEXT ? str_eq(field_text(f, got), field_text(f, want))
                                          : field_number(f, got) == field_number(f, want);
        if (!same)
            fail_msg("column %s came back as something else", f->column);
    }
}

void assert_no_text(const struct fields *fields, unsigned groups, const void *got)
{
    for (size_t i = 0; i < fields->len; i++) {
        const struct field *f = &fields->items[i];
        if (field_is_in(f, groups) && field_text(f, got).len > 0)
            fail_msg("column %s was not asked for", f->column);
    }
}

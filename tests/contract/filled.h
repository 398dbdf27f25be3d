/* filled.h - records with a value in every field of their lists, and how two of them compare. */
#pragma once
#include "job/record/record_fields.h"
#include "world.h"

/* Gives each field of these groups a value that no other field has, as far as its bounds allow;
 * another `shift` gives others. Texts live as long as the world. */
void fill(struct world *w, const struct fields *fields, unsigned groups, int64_t shift,
          void *record);
/* Gives what is rare (fields.h) its usual value. */
void fill_usual(const struct fields *fields, void *record);

/* Fields of other groups are not looked at; FIELD_ANY: all. */
void assert_same(const struct fields *fields, unsigned groups, const void *got, const void *want);
/* All of them are empty. */
void assert_no_text(const struct fields *fields, unsigned groups, const void *got);

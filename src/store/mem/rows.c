#include "store/mem/rows.h"
#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A str promises not to write, but these bytes are ours. */
static char *owned(struct str text)
{
    char *ptr;
    memcpy(&ptr, &text.ptr, sizeof ptr);
    return ptr;
}

void kept_texts(const struct fields *fields, void *record)
{
    for (size_t i = 0; i < fields->len; i++) {
        const struct field *field = &fields->items[i];
        if (field->kind == FIELD_TEXT)
            field_set_text(field, record, kept_text(field_text(field, record)));
    }
}

void kept_texts_free(const struct fields *fields, const void *record)
{
    for (size_t i = 0; i < fields->len; i++) {
        const struct field *field = &fields->items[i];
        if (field->kind == FIELD_TEXT)
            free(owned(field_text(field, record)));
    }
}

void kept_record_take(const struct fields *fields, unsigned groups, void *record, const void *from)
{
    for (size_t i = 0; i < fields->len; i++) {
        const struct field *field = &fields->items[i];
        if (field->kind == FIELD_TEXT && field_is_in(field, groups))
            free(owned(field_text(field, record)));
    }
    fields_take(fields, groups, record, from);
    for (size_t i = 0; i < fields->len; i++) {
        const struct field *field = &fields->items[i];
        if (field->kind == FIELD_TEXT && field_is_in(field, groups))
            field_set_text(field, record, kept_text(field_text(field, record)));
    }
}

void *kept_record(const struct fields *fields, const void *record)
{
    void *kept = mem_dup(record, fields->bytes);
    kept_texts(fields, kept);
    return kept;
}

void kept_record_free(const struct fields *fields, void *record)
{
    if (record != NULL)
        kept_texts_free(fields, record);
    free(record);
}

struct str tally_name(const struct tally *row, char *bytes)
{
    const int64_t numbers[] = {row->scope, row->hour, row->end, row->bucket};
    assert(sizeof numbers + row->key.len <= TALLY_KEY_MAX);
    memcpy(bytes, numbers, sizeof numbers);
    if (row->key.len > 0)
        memcpy(bytes + sizeof numbers, row->key.ptr, row->key.len);
    return str_of(bytes, sizeof numbers + row->key.len);
}

struct tally *kept_tally(const struct tally *row)
{
    struct tally *kept = mem_new(sizeof *kept + TALLY_KEY_MAX);
    *kept = *row;
    kept->key = kept_text(row->key);
    return kept;
}

void kept_tally_free(struct tally *row)
{
    if (row == NULL)
        return;
    kept_text_free(&row->key);
    free(row);
}

struct claim *kept_claim(const struct claim *claim)
{
    struct claim *kept = mem_dup(claim, sizeof *claim);
    kept->key = kept_text(claim->key);
    kept->note = kept_text(claim->note);
    return kept;
}

void kept_claim_free(struct claim *claim)
{
    if (claim == NULL)
        return;
    kept_text_free(&claim->key);
    kept_text_free(&claim->note);
    free(claim);
}

struct job_rec copy_job(struct arena *arena, struct job_rec job)
{
    fields_copy(&job_row_fields, &job, arena);
    return job;
}

struct exec_rec copy_exec(struct arena *arena, struct exec_rec exec)
{
    fields_copy(&exec_fields, &exec, arena);
    return exec;
}

struct letter_rec copy_letter(struct arena *arena, struct letter_rec letter)
{
    fields_copy(&letter_fields, &letter, arena);
    return letter;
}

struct calendar_rec copy_calendar(struct arena *arena, struct calendar_rec calendar)
{
    fields_copy(&calendar_fields, &calendar, arena);
    return calendar;
}

struct str kept_text(struct str text)
{
    return str_of(mem_dup(text.ptr, text.len), text.len);
}

void kept_text_free(struct str *text)
{
    free(owned(*text));
    *text = (struct str){0};
}

void kept_text_set(struct str *text, struct str value)
{
    struct str kept = kept_text(value);
    kept_text_free(text);
    *text = kept;
}

void kept_text_append(struct str *text, struct str more)
{
    if (more.len == 0)
        return;
    char *longer = mem_resize(owned(*text), text->len + more.len);
    memcpy(longer + text->len, more.ptr, more.len);
    *text = str_of(longer, text->len + more.len);
}

void *kept_rows_grow(void *rows, size_t count, size_t row_bytes)
{
    if ((count & (count - 1)) != 0) /* it has room up to the next power of two */
        return rows;
    return mem_resize(rows, (count == 0 ? 1 : count * 2) * row_bytes);
}

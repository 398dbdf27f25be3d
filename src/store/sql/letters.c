#include "store/sql/letters.h"
#include "job/record/record_fields.h"

struct letter_key letter_key(const struct letter_filter *filter)
{
    const struct letter_key keys[] = {
        {LETTERS_OF_JOB, .number = filter->job_id},
        {LETTERS_OF_KIND, .number = filter->fingerprint},
        {LETTERS_NAMED, .text = filter->name},
        {LETTERS_OF_QUEUE, .text = filter->queue},
    };
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        if (keys[i].number != 0 || keys[i].text.len > 0)
            return keys[i];
    }
    return (struct letter_key){.list = LETTERS_ALL};
}

struct letter_place letter_start(const struct letter_filter *filter, struct letter_place before)
{
    struct letter_place end = letter_filter_end(filter);
    return before.exec_id != 0 && letter_order(before, end) < 0 ? before : end;
}

/* ---- readers */

struct letter_place letter_row_place(struct row row)
{
    struct letter_place place;
    place.died_ms = row_i64(&row);
    place.exec_id = row_u64(&row);
    return place;
}

void letter_walk_row(struct letter_walk *walk, struct row row)
{
    struct letter_place place = letter_row_place(row);
    struct letter_rec letter;
    if (walk->left == 0 || (row_letter(&row, &letter) && letter_fits(walk->filter, &letter) &&
                            !walk->sink(walk->arg, &letter))) {
        walk->enough = true;
        return;
    }
    walk->left--;
    walk->last = place;
}

/* ---- turns */

bool letters_add(struct letters_found *found, struct question *q, struct row row,
                 struct arena *arena)
{
    struct letter_rec letter;
    q->answer.more =
        found->looked == question_scan_max(q, LETTERS_SCAN_MAX) || found->letters.len == q->limit;
    if (q->answer.more)
        return false;
    found->looked++;
    bool good = row_letter(&row, &letter);
    q->answer.place = letter.place;
    if (good && letter_fits(&q->filter, &letter)) {
        fields_copy(&letter_fields, &letter, arena);
        *VEC_PUSH(arena, &found->letters) = letter;
    }
    return true;
}

void letters_answer(const struct letters_found *found, struct question *q)
{
    q->answer.letters = found->letters.items;
    q->answer.letter_count = found->letters.len;
}

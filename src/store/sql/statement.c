#include "store/sql/statement.h"
#include "base/buf.h"

#include <assert.h>

enum { STATEMENT_BYTES_MAX = 1 << 16 }; /* the longest has 6 KB */

struct str statement_text(const struct statement *statement, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = BUF(STATEMENT_BYTES_MAX);
    for (size_t i = 0; i < statement->piece_count; i++) {
        const struct statement_piece *piece = &statement->pieces[i];
        if (piece->text != NULL)
            buf_add(&text, str_c(piece->text));
        else
            buf_add_i64(&text, piece->number);
    }
    assert(!text.overflow);
    return arena_str(arena, buf_str(&text));
}

/* What failures say: the lines worth keeping, the one that tells, and by what two are the same. */
#include "base/buf.h"
#include "job/failure.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

/* ---- lines */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The last line, without its end; *rest becomes what stands before it. */
static struct str cut_last_line(struct str *rest)
{
    size_t from = rest->len;
    while (from > 0 && rest->ptr[from - 1] != '\n')
        from--;
    struct str line = str_from(*rest, from);
    rest->len = from > 0 ? from - 1 : 0;
    return line;
}

static struct str without_end(struct str text)
{
    while (text.len > 0 && (text.ptr[text.len - 1] == '\n' || is_blank(text.ptr[text.len - 1])))
        text.len--;
    return text;
}

static struct str last_lines(struct str text, size_t count)
{
    struct str rest = text;
    for (; count > 0 && rest.len > 0; count--)
        cut_last_line(&rest);
    size_t skip = rest.len == 0 ? 0 : rest.len + 1;
    return count > 0 ? text : str_from(text, skip);
}

/* ---- stack traces */

static bool is_indented(struct str line)
{
    return line.len > 0 && is_blank(line.ptr[0]);
}

/* One step of a stack as Java, JavaScript, C# and Ruby print it. */
static bool is_frame(struct str line)
{
    struct str words = str_trim(line);
    return is_indented(line) && (str_starts(words, STR("at ")) || str_starts(words, STR("from ")) ||
                                 str_starts(words, STR("#0 ")));
}

/* Where a trace says itself what went wrong, in its first line. */
static bool is_panic(struct str line)
{
    return str_starts(line, STR("panic: ")) || str_starts(line, STR("thread '"));
}

static bool is_head(struct str line)
{
    return is_panic(line) || str_starts(line, STR("Traceback (most recent call last)")) ||
           str_starts(line, STR("Exception in thread ")) || str_starts(line, STR("Stack trace:"));
}

struct str failure_trace(struct str tail)
{
    struct str rest = tail;
    const char *before = NULL; /* where the newest line began that is not indented */
    while (rest.len > 0) {
        const char *from = rest.ptr;
        struct str line = str_cut(&rest, '\n');
        if (is_frame(line) && before != NULL)
            from = before;
        else if (!is_head(line)) {
            if (!is_indented(line) && line.len > 0)
                before = from;
            continue;
        }
        return without_end(str_from(tail, (size_t)(from - tail.ptr)));
    }
    return (struct str){0};
}

struct str failure_tail(struct str output)
{
    struct str tail = without_end(output);
    if (tail.len > FAILURE_TAIL_BYTES_MAX) {
        tail = str_from(tail, tail.len - FAILURE_TAIL_BYTES_MAX);
        size_t part = str_index(tail, '\n'); /* of a line: not worth keeping, unless it is all */
        if (part + 1 < tail.len)
            tail = str_from(tail, part + 1);
    }
    struct str lines = last_lines(tail, FAILURE_TAIL_LINES_MAX);
    struct str trace = failure_trace(tail);
    return trace.len > lines.len ? trace : lines;
}

/* What programs print after the line that matters. */
static bool is_trailer(struct str line)
{
    return str_starts(line, STR("Node.js v")) || str_starts(line, STR("exit status ")) ||
           str_starts(line, STR("goroutine ")) || str_starts(line, STR("note: run with"));
}

struct str failure_line(struct str tail)
{
    struct str trace = failure_trace(tail);
    struct str head = trace;
    head = str_cut(&head, '\n');
    if (is_panic(head))
        return head;
    struct str rest = without_end(tail);
    struct str last = {0};
    while (rest.len > 0) {
        struct str line = cut_last_line(&rest);
        struct str words = str_trim(line);
        if (last.len == 0)
            last = words;
        if (words.len > 0 && !is_indented(line) && !is_trailer(line))
            return words;
    }
    return last;
}

/* ---- what stays the same */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) != 0 || c == '_';
}

static size_t word_len(struct str text)
{
    size_t len = 0;
    while (len < text.len && is_word(text.ptr[len]))
        len++;
    return len;
}

/* A number in some notation, or a mix that nobody would choose as a name. */
static bool is_id(struct str word, bool behind_id)
{
    enum { HEX_MIN = 4, MIX_MIN = 8 };
    size_t digits = 0;
    size_t hex = 0;
    for (size_t i = 0; i < word.len; i++) {
        digits += isdigit((unsigned char)word.ptr[i]) != 0;
        hex += isxdigit((unsigned char)word.ptr[i]) != 0;
    }
    if (hex == word.len && (digits > 0 || behind_id))
        return digits == word.len || word.len >= HEX_MIN;
    return digits > 0 && (word.len >= MIX_MIN || str_starts(word, STR("0x")));
}

/* Each row of digits becomes one sign. */
static void add_word(struct buf *out, struct str word)
{
    for (size_t i = 0; i < word.len; i++) {
        bool digit = isdigit((unsigned char)word.ptr[i]) != 0;
        bool row = digit && i > 0 && isdigit((unsigned char)word.ptr[i - 1]) != 0;
        if (!row)
            buf_add_char(out, digit ? '#' : word.ptr[i]);
    }
}

/* How many bytes a quoted value at the start of text takes; 0: there is none. An apostrophe stands
 * behind a letter. */
static size_t quoted_len(struct str text, bool behind_word)
{
    char quote = text.ptr[0];
    if ((quote != '\'' && quote != '"' && quote != '`') || (quote == '\'' && behind_word))
        return 0;
    size_t end = str_index(str_from(text, 1), quote == '`' ? '\'' : quote) + 1;
    if (quote == '`' && end >= text.len)
        end = str_index(str_from(text, 1), '`') + 1;
    return end < text.len ? end + 1 : 0;
}

static void add_one(struct buf *out, char c)
{
    bool blank = is_blank(c);
    if (!blank || (out->len > 0 && out->ptr[out->len - 1] != ' '))
        buf_add_char(out, blank ? ' ' : c);
}

struct str failure_normalise(struct str line, char *ret_text)
{
    struct buf out = {
        .ptr = ret_text, .cap = FAILURE_LINE_BYTES_MAX, .max = FAILURE_LINE_BYTES_MAX};
    bool behind_id = false;
    bool behind_word = false;
    while (line.len > 0 && !out.overflow) {
        size_t len = word_len(line);
        size_t quoted = quoted_len(line, behind_word);
        if (len > 0) {
            struct str word = str_of(line.ptr, len);
            bool id = is_id(word, behind_id && out.len > 0 && out.ptr[out.len - 1] == '-');
            if (id)
                buf_add_char(&out, '#');
            else
                add_word(&out, word);
            behind_id = id;
        } else if (quoted > 0) {
            len = quoted;
            buf_add(&out, STR("'*'"));
        } else {
            len = 1;
            behind_id = behind_id && line.ptr[0] == '-';
            add_one(&out, line.ptr[0]);
        }
        behind_word = is_word(line.ptr[len - 1]);
        line = str_from(line, len);
    }
    return buf_str(&out);
}

uint64_t failure_fingerprint(enum failure_class class, int32_t exit_code, int32_t signal,
                             struct str tail, struct str error)
{
    char text[FAILURE_LINE_BYTES_MAX + 48];
    char line_bytes[FAILURE_LINE_BYTES_MAX];
    struct str line = failure_line(tail);
    line = failure_normalise(line.len > 0 ? line : error, line_bytes);
    int len = snprintf(text, sizeof text, "%d %" PRId32 " %" PRId32 " %.*s", (int)class, exit_code,
                       signal, STR_ARG(line));
    uint64_t print = str_hash(str_of(text, (size_t)len)) >> 16;
    return print == 0 ? 1 : print;
}

struct str failure_print(uint64_t fingerprint, char *ret_text)
{
    int len = snprintf(ret_text, FAILURE_PRINT_MAX, "%012" PRIx64,
                       fingerprint & UINT64_C(0xffffffffffff));
    return str_of(ret_text, (size_t)len);
}

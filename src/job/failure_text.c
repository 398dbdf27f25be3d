/* Texts of failures: the lines worth keeping, the one that tells, and by what two are the same. */
#include "base/buf.h"
#include "job/failure.h"

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
    if (!is_indented(line))
        return false;
    struct str words = str_trim(line);
    return str_starts(words, STR("at ")) || str_starts(words, STR("from ")) ||
           str_starts(words, STR("#0 "));
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

/* Lines that programs print after the one that matters. */
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

/* Not those of ctype.h: these are the same in every locale, as fingerprints must be, and cost no
 * call. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_word(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* The word that text begins with, and what it is made of. */
struct word {
    struct str text; /* empty: there is none */
    size_t digits;
    size_t hex; /* digits included */
};

static struct word word_at(struct str text)
{
    struct word word = {.text = {.ptr = text.ptr}};
    for (; word.text.len < text.len && is_word(text.ptr[word.text.len]); word.text.len++) {
        word.digits += is_digit(text.ptr[word.text.len]);
        word.hex += is_hex(text.ptr[word.text.len]);
    }
    return word;
}

/* A number in some notation, or a mix that nobody would choose as a name. */
static bool is_id(const struct word *word, bool behind_id)
{
    enum { HEX_MIN = 4, MIX_MIN = 8 };
    size_t len = word->text.len;
    if (word->hex == len && (word->digits > 0 || behind_id))
        return word->digits == len || len >= HEX_MIN;
    return word->digits > 0 && (len >= MIX_MIN || str_starts(word->text, STR("0x")));
}

/* Each row of digits becomes one sign. */
static void add_word(struct buf *out, const struct word *word)
{
    struct str text = word->text;
    if (word->digits == 0) {
        buf_add(out,
                str_of(text.ptr, text.len < out->max - out->len ? text.len : out->max - out->len));
        return;
    }
    for (size_t i = 0; i < text.len; i++) {
        bool digit = is_digit(text.ptr[i]);
        if (!digit || i == 0 || !is_digit(text.ptr[i - 1]))
            buf_add_char(out, digit ? '#' : text.ptr[i]);
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
        struct word word = word_at(line);
        size_t len = word.text.len;
        if (len > 0) {
            behind_id = is_id(&word, behind_id && out.len > 0 && out.ptr[out.len - 1] == '-');
            if (behind_id)
                buf_add_char(&out, '#');
            else
                add_word(&out, &word);
        } else if ((len = quoted_len(line, behind_word)) > 0) {
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
    char bytes[FAILURE_LINE_BYTES_MAX + 48];
    char line_bytes[FAILURE_LINE_BYTES_MAX];
    struct buf text = {.ptr = bytes, .cap = sizeof bytes, .max = sizeof bytes};
    struct str line = failure_line(tail);
    buf_add_i64(&text, class);
    buf_add_char(&text, ' ');
    buf_add_i64(&text, exit_code);
    buf_add_char(&text, ' ');
    buf_add_i64(&text, signal);
    buf_add_char(&text, ' ');
    buf_add(&text, failure_normalise(line.len > 0 ? line : error, line_bytes));
    uint64_t print = str_hash(buf_str(&text)) >> 16;
    return print == 0 ? 1 : print;
}

struct str failure_print(uint64_t fingerprint, char *ret_text)
{
    int len = snprintf(ret_text, FAILURE_PRINT_MAX, "%012" PRIx64,
                       fingerprint & UINT64_C(0xffffffffffff));
    return str_of(ret_text, (size_t)len);
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool fingerprint_parse(struct str text, uint64_t *ret_fingerprint)
{
    uint64_t value = 0;
    if (text.len != FAILURE_PRINT_BYTES)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (digit(text.ptr[i]) < 0)
            return false;
        value = value << 4 | (unsigned)digit(text.ptr[i]);
    }
    *ret_fingerprint = value;
    return value != 0;
}

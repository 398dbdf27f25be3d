#include "cli/cells.h"
#include "base/buf.h"

struct range {
    uint32_t first, last;
};

/* clang-format off */
static const struct range none[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a}, {0x064b, 0x065f},
    {0x0e31, 0x0e31}, {0x0e34, 0x0e3a}, {0x0e47, 0x0e4e}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},
    {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f},
    {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}, {0xe0000, 0xe0fff},
};

static const struct range wide[] = {
    {0x1100, 0x115f}, {0x231a, 0x231b}, {0x2329, 0x232a}, {0x23e9, 0x23ec}, {0x23f0, 0x23f0},
    {0x23f3, 0x23f3}, {0x25fd, 0x25fe}, {0x2614, 0x2615}, {0x2648, 0x2653}, {0x267f, 0x267f},
    {0x2693, 0x2693}, {0x26a1, 0x26a1}, {0x26aa, 0x26ab}, {0x26bd, 0x26be}, {0x26c4, 0x26c5},
    {0x26ce, 0x26ce}, {0x26d4, 0x26d4}, {0x26ea, 0x26ea}, {0x26f2, 0x26f3}, {0x26f5, 0x26f5},
    {0x26fa, 0x26fa}, {0x26fd, 0x26fd}, {0x2705, 0x2705}, {0x270a, 0x270b}, {0x2728, 0x2728},
    {0x274c, 0x274c}, {0x274e, 0x274e}, {0x2753, 0x2755}, {0x2757, 0x2757}, {0x2795, 0x2797},
    {0x27b0, 0x27b0}, {0x27bf, 0x27bf}, {0x2b1b, 0x2b1c}, {0x2b50, 0x2b50}, {0x2b55, 0x2b55},
    {0x2e80, 0x303e}, {0x3041, 0x4dbf}, {0x4e00, 0xa4cf}, {0xa960, 0xa97f}, {0xac00, 0xd7a3},
    {0xf900, 0xfaff}, {0xfe30, 0xfe6f}, {0xff01, 0xff60}, {0xffe0, 0xffe6}, {0x16fe0, 0x18dff},
    {0x1aff0, 0x1b2ff}, {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf}, {0x1f18e, 0x1f18e},
    {0x1f191, 0x1f19a}, {0x1f200, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f7e0, 0x1f7eb},
    {0x1f900, 0x1f9ff}, {0x1fa70, 0x1faff}, {0x20000, 0x3fffd},
};
/* clang-format on */

static bool is_in(const struct range *ranges, size_t count, uint32_t value)
{
    for (size_t i = 0; i < count && ranges[i].first <= value; i++) {
        if (value <= ranges[i].last)
            return true;
    }
    return false;
}

size_t cells_next(struct str text, size_t *ret_width)
{
    size_t len = str_utf8_len(text);
    *ret_width = 1;
    if (len < 2)
        return 1;
    uint32_t value = str_utf8_value(text, len);
    if (is_in(none, COUNT_OF(none), value))
        *ret_width = 0;
    else if (is_in(wide, COUNT_OF(wide), value))
        *ret_width = 2;
    return len;
}

size_t cells_width(struct str text)
{
    size_t total = 0;
    while (text.len > 0) {
        size_t width;
        text = str_from(text, cells_next(text, &width));
        total += width;
    }
    return total;
}

struct str cells_cut(struct str text, size_t width)
{
    size_t end = 0;
    while (end < text.len) {
        size_t next;
        size_t len = cells_next(str_from(text, end), &next);
        if (next > width)
            break;
        width -= next;
        end += len;
    }
    return str_of(text.ptr, end);
}

struct str cells_clean(struct str text, size_t bytes_max, struct arena *arena)
{
    text = str_head(text, bytes_max);
    struct buf clean = {.ptr = arena_bytes(arena, text.len), .cap = text.len, .max = text.len};
    while (text.len > 0) {
        size_t width;
        size_t control = str_control_len(text);
        size_t len = control > 0 ? control : cells_next(text, &width);
        if (control > 0)
            buf_add_char(&clean, ' ');
        else if (str_utf8_len(text) == 0)
            buf_add_char(&clean, '?');
        else if (width > 0)
            buf_add(&clean, str_of(text.ptr, len));
        text = str_from(text, len);
    }
    return buf_str(&clean);
}

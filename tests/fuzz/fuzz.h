/* fuzz.h - what the fuzz targets share.
 *
 * A target takes bytes from anywhere, must not break, and states what holds for those it accepts:
 * what parses prints, and what was printed parses back to the same text. */
#pragma once
#include "base/arena.h"
#include "base/buf.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline struct str fuzz_text(const uint8_t *data, size_t size)
{
    return str_of((const char *)data, size);
}

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void *mem_new(size_t bytes)
{
    void *ptr = calloc(1, bytes == 0 ? 1 : bytes);
    if (ptr == NULL)
        abort();
    return ptr;
}

void *mem_resize(void *old, size_t bytes)
{
    void *ptr = realloc(old, bytes == 0 ? 1 : bytes);
    if (ptr == NULL)
        abort();
    return ptr;
}

void *mem_dup(const void *from, size_t bytes)
{
    char *copy = mem_resize(NULL, bytes + 1);
    if (bytes > 0)
        memcpy(copy, from, bytes);
    copy[bytes] = '\0';
    return copy;
}

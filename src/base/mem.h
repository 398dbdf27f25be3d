/* mem.h - malloc that does not come back empty-handed.
 *
 * Out of memory ends the process: jobs are durable, leases expire, and restart is a path that is
 * tested daily, so no caller carries a branch that nobody can test. */
#pragma once

#include <stddef.h>

void *mem_new(size_t bytes);                   /* zeroed */
void *mem_resize(void *old, size_t bytes);     /* as realloc */
void *mem_dup(const void *from, size_t bytes); /* a copy with one NUL behind it */

#define MEM_NEW(type) ((type *)mem_new(sizeof(type)))

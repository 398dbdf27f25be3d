/* raw_call.h - system calls that leave no trace in memory.
 *
 * Between its birth and its exec a command's process runs in the memory of the spawner, beside it
 * (see spawn_cradle.h). libc's wrappers write errno on failure, and that variable would be the
 * spawner's own, which may just be looking at it. These calls return what the kernel says: a value,
 * or a negated errno. Every argument is a number or a pointer. */
#pragma once

#if defined(__x86_64__) && defined(__LP64__)

#define RAW_CALLS_ARE_TRACELESS 1

static inline long raw_call(long number, long a, long b, long c, long d)
{
    long result;
    register long fourth __asm__("r10") = d;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
}

#elif defined(__aarch64__) && defined(__LP64__)

#define RAW_CALLS_ARE_TRACELESS 1

static inline long raw_call(long number, long a, long b, long c, long d)
{
    register long call __asm__("x8") = number;
    register long first __asm__("x0") = a;
    register long second __asm__("x1") = b;
    register long third __asm__("x2") = c;
    register long fourth __asm__("x3") = d;
    __asm__ volatile("svc #0"
                     : "+r"(first)
                     : "r"(call), "r"(second), "r"(third), "r"(fourth)
                     : "memory");
    return first;
}

#else /* a processor nobody has taught us: libc's way, so memory must not be shared */

#include <errno.h>
#include <unistd.h>

#define RAW_CALLS_ARE_TRACELESS 0

static inline long raw_call(long number, long a, long b, long c, long d)
{
    long result = syscall(number, a, b, c, d);
    return result < 0 ? -errno : result;
}

#endif

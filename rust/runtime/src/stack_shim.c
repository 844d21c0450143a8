/* How much C stack a thread has left. CPython 3.11 bounds Python recursion only, and a user may raise that bound. */
#define _GNU_SOURCE
#include "shim.h"
#include <stdint.h>
#if defined(__linux__) || defined(__APPLE__)
#include <pthread.h>
#endif

enum { RESERVE_DIVISOR = 8, RESERVE_MAX = 512 * 1024 };

static _Thread_local uintptr_t stack_bottom, stack_limit; /* bottom: lowest address; both 0 until known, 1 if unknowable */

static void find_stack(void)
{
    uintptr_t bottom = 0;
    size_t size = 0;
#if defined(__linux__)
    pthread_attr_t attributes;
    void *address = NULL;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        if (pthread_attr_getstack(&attributes, &address, &size) == 0)
            bottom = (uintptr_t)address;
        pthread_attr_destroy(&attributes);
    }
#elif defined(__APPLE__)
    size = pthread_get_stacksize_np(pthread_self());
    bottom = (uintptr_t)pthread_get_stackaddr_np(pthread_self()) - size;
#endif
    if (bottom == 0) {
        stack_bottom = stack_limit = 1;
        return;
    }
    size_t reserve = size / RESERVE_DIVISOR;
    stack_bottom = bottom;
    stack_limit = bottom + (reserve < RESERVE_MAX ? reserve : RESERVE_MAX);
}

int pydynamo_stack_is_low(void)
{
    char here;
    if (stack_limit == 0)
        find_stack();
    /* An address below the bottom is another stack (a coroutine library's): nothing is known about it. */
    if (stack_limit == 1 || (uintptr_t)&here < stack_bottom)
        return -1;
    return (uintptr_t)&here < stack_limit;
}

/*
 * The allocator behind malloc and its like, for libraries that define them: a sanitizer's if there
 * is one, else glibc's own. Neither need be looked up: dlsym is Reprise's here, and allocates.
 */
#pragma once

#include <stdlib.h>

#define BEHIND_AS(name, own, result, types, values) \
	result own types; \
	__attribute__((weak)) result __interceptor_##name types; \
	static result behind_##name types \
	{ \
		return __interceptor_##name ? __interceptor_##name values : own values; \
	}
#define BEHIND(name, types, values) BEHIND_AS(name, __libc_##name, void *, types, values)
BEHIND(malloc, (size_t bytes), (bytes))
BEHIND(calloc, (size_t count, size_t bytes), (count, bytes))
BEHIND(realloc, (void *memory, size_t bytes), (memory, bytes))
BEHIND_AS(aligned_alloc, __libc_memalign, void *, (size_t alignment, size_t bytes),
          (alignment, bytes))

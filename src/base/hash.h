/* Hashing of ops: 64 bits, fast on short keys, not safe against adversaries. A collision costs a
 * failed guard and never a wrong result, since guards compare bytes. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t reprise_hash_mix(uint64_t a, uint64_t b)
{
	__uint128_t product = (__uint128_t)(a ^ 0x9e3779b97f4a7c15u) * (b ^ 0xe7037ed1a0b428dbu);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t reprise_hash_bytes(uint64_t seed, const void *bytes, size_t count)
{
	const unsigned char *at = bytes;
	uint64_t word;

	for (; count >= 8; at += 8, count -= 8) {
		memcpy(&word, at, 8);
		seed = reprise_hash_mix(seed, word);
	}
	if (count > 0) {
		/* At most 7 bytes: a call of memcpy() would cost more than the hash. */
		uint32_t four = 0;

		if ((count & 4) != 0)
			memcpy(&four, at, 4);
		word = 0;
		for (size_t i = count; i-- > (count & 4);)
			word = word << 8 | at[i];
		seed = reprise_hash_mix(seed ^ count, word << (count & 4) * 8 | four);
	}
	return seed;
}

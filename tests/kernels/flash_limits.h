/* flash_limits.h - kernels/flash_attention/limits.h for tests in C
 *
 * A configuration is one int for each of flash_limit_macros: the members of
 * its struct config, in order, under the names of the kernel's macros.
 * Thread rule: constant; any thread.
 */
#ifndef FA_TESTS_KERNELS_FLASH_LIMITS_H
#define FA_TESTS_KERNELS_FLASH_LIMITS_H

#ifdef __cplusplus
extern "C" {
#endif

enum {
    FLASH_LIMIT_MACROS = 16,
    FLASH_LIMIT_RULES = 9
};

extern const char *const flash_limit_macros[FLASH_LIMIT_MACROS];
extern const char *const flash_limit_rules[FLASH_LIMIT_RULES];

/* Bit r: rule r refuses it. */
unsigned flash_limits_refuse(const int values[FLASH_LIMIT_MACROS]);

/* The shared memory that it needs, whatever it has. */
int flash_limits_least_smem(const int values[FLASH_LIMIT_MACROS]);

#ifdef __cplusplus
}
#endif

#endif

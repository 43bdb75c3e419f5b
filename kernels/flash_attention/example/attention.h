/* attention.h - what the example needs on the host: numbers and a reference
 *
 * fp16 is 16 bits here, since C17 has no such type everywhere.
 */
#ifndef EXAMPLE_ATTENTION_H
#define EXAMPLE_ATTENTION_H

#include <stddef.h>
#include <stdint.h>

enum {
    HEAD_DIM = 64
};

/* Q, K, V and the output are [batch, heads, seq, HEAD_DIM], contiguous. */
struct shape {
    long batch, heads, seq;
    int causal; /* a row sees only itself and the rows before it */
};

double half_to_double(uint16_t half);
uint16_t half_of(double number); /* rounds; finite and below 65504 */

/* Independent normal numbers, the same for the same seed. */
void fill_normal(uint16_t *out, size_t n, uint64_t seed);

/* One row of softmax(Q K^T / sqrt(HEAD_DIM)) V as it is defined, in double.
 * 'row' counts through batch, heads and seq; 'scores' holds seq numbers. */
void attention_row(const struct shape *shape, const uint16_t *q, const uint16_t *k,
                   const uint16_t *v, long row, double *scores, double out[HEAD_DIM]);

#endif

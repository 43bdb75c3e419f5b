/* gpu_variation.h - how the replayed GPUs differ from the one that was recorded
 *
 *   { "cards": [ { "host": "box1", "gpu": 1, "factor": 1.08 },
 *                { "gpu": 0, "drift": 0.03, "over": 200 } ] }
 *
 * The first card of the list that fits a GPU is its own: without "host" any
 * host does, without "gpu" any index.  Its times are the recorded ones times
 * 'factor'; over its first 'over' measurements they rise by the share 'drift'
 * as well, and stay there.
 * Thread rule: one thread.
 */
#ifndef FA_COORDINATOR_REPLAY_GPU_VARIATION_H
#define FA_COORDINATOR_REPLAY_GPU_VARIATION_H

struct gpu_variation;
struct err;

int gpu_variation_load(const char *path, struct gpu_variation **out,
                       struct err *err);
void gpu_variation_free(struct gpu_variation *variation); /* NULL is fine */

/* What times of this GPU are multiplied with in the measurement that follows
 * 'measured' earlier ones.  NULL cards are all alike. */
double gpu_variation_factor(const struct gpu_variation *variation,
                            const char *host, int gpu, long measured);

#endif

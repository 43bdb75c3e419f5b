/* gpu_variation.h - differences between the replayed GPUs and the recorded one
 *
 *   { "cards": [ { "host": "box1", "gpu": 1, "factor": 1.08 },
 *                { "gpu": 0, "drift": 0.03, "over": 200 } ] }
 *
 * A GPU uses the first card of the list that matches; a card without "host"
 * matches any host, one without "gpu" any index.  Its times are the recorded
 * ones times 'factor'. During its first 'over' measurements they also rise by
 * the share 'drift', and stay there.
 * Thread rule: one thread.
 */
#ifndef FA_COORDINATOR_REPLAY_GPU_VARIATION_H
#define FA_COORDINATOR_REPLAY_GPU_VARIATION_H

struct gpu_variation;
struct err;

int gpu_variation_load(const char *path, struct gpu_variation **out,
                       struct err *err);
void gpu_variation_free(struct gpu_variation *variation); /* NULL is fine */

/* The factor for times on this GPU in the measurement that follows 'measured'
 * earlier ones.  Without cards (NULL) all GPUs are alike. */
double gpu_variation_factor(const struct gpu_variation *variation,
                            const char *host, int gpu, long measured);

#endif

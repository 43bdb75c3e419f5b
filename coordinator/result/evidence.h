/* evidence.h - queries for the rows behind a conclusion
 *
 * Rows are passed one by one; their texts are valid during the call.  Functions
 * return ERR_STORE. Thread rule: that of the store.
 */
#ifndef FA_COORDINATOR_RESULT_EVIDENCE_H
#define FA_COORDINATOR_RESULT_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct row_query;
struct store;

/* Every build of a kernel that made an artifact. */
struct evidence_artifact {
    const char *config, *source_key, *artifact;
    int64_t received_utc;
};
typedef void evidence_artifact_fn(void *arg,
                                  const struct evidence_artifact *artifact);
int evidence_artifacts(struct store *store, evidence_artifact_fn *fn, void *arg,
                       struct err *err);

/* The last build of a kernel.  Builds that a killed compiler left are used only
 * if there is no other.  Returns 1, or 0 if it was not built.  The row is valid
 * until the next call. */
struct evidence_build {
    const char *outcome, *detail, *artifact, *log, *toolkit;
    double seconds;
    bool cached;
};
int evidence_builds_open(struct store *store, struct row_query **builds_out,
                         struct err *err);
int evidence_builds_find(struct row_query *builds, const char *config,
                         const char *source_key, struct evidence_build *out,
                         struct err *err);
void evidence_builds_close(struct row_query *builds); /* NULL is fine */

/* The origin of a measurement; "" and 0 if not known.  Without a measurement
 * the artifact is that of the last build. */
struct evidence_origin {
    const char *source_key, *artifact, *gpu, *driver, *toolkit;
    int64_t measured_utc;
};
typedef void evidence_origin_fn(void *arg,
                                const struct evidence_origin *origin);
int evidence_origin(struct store *store, const char *config, const char *nonce,
                    evidence_origin_fn *fn, void *arg, struct err *err);

/* The runs of the external baselines in the rounds of a pass between 'first'
 * and 'end', by name and round: those that count, and the last attempt of a
 * round in which all crashed. */
struct evidence_external {
    int64_t shape, round; /* 'shape' is its index in the pass */
    const char *host, *outcome, *detail, *output, *name;
    double seconds;
};
typedef void evidence_external_fn(void *arg,
                                  const struct evidence_external *run);
int evidence_externals(struct store *store, int64_t pass, int64_t first,
                       int64_t end, evidence_external_fn *fn, void *arg,
                       struct err *err);

/* When the newest outcome of the current sweep was settled; 0: none yet. */
int evidence_newest_settled(struct store *store, int64_t *utc_out,
                            struct err *err);

#endif

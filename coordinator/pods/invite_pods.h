/* invite_pods.h - workers that dial back from pods of Kubernetes
 *
 * A Secret with the invitations, and an indexed Job whose pod i reads
 * invitation i, as one document for 'kubectl apply'.  JSON, which it takes as
 * it takes YAML.
 * Pure.
 */
#ifndef FA_COORDINATOR_PODS_INVITE_PODS_H
#define FA_COORDINATOR_PODS_INVITE_PODS_H

#include <stddef.h>
#include <stdint.h>

struct invite_pods {
    const char *name; /* of Secret and Job: a label of DNS */
    const char *image;
    int64_t gpus; /* of a pod; 0: none */
    char **texts; /* [n], the invitations */
    size_t n;
};

/* The document, for the caller to wipe and free; NULL: out of memory. */
char *invite_pods_text(const struct invite_pods *pods);

#endif

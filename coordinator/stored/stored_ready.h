/* stored_ready.h - what a GPU and its host were when a result was measured
 *
 * Text for queries over 'result' (alias r): it joins the row of 'ready' (alias
 * y) that was the newest one when the lease of the result was given.  All its
 * columns are NULL where that is not known: in imports, and in what a version
 * before format 12 measured.
 */
#ifndef FA_COORDINATOR_STORED_STORED_READY_H
#define FA_COORDINATOR_STORED_STORED_READY_H

#define STORED_READY                                                         \
    " LEFT JOIN (SELECT epoch, config, shape, purpose, round, attempt,"      \
    "  host, gpu, max(leased_utc) AS at_utc FROM lease"                      \
    "  WHERE stage='measure' GROUP BY epoch, config, shape, purpose, round," \
    "  attempt, host, gpu) l ON l.epoch=r.epoch AND l.config=r.config"       \
    "  AND l.shape=r.shape AND l.purpose=r.purpose AND l.round=r.round"      \
    "  AND l.attempt=r.attempt AND l.host=r.host AND l.gpu=r.gpu"            \
    " LEFT JOIN ready y ON y.host=r.host AND y.gpu=r.gpu AND y.at_utc="      \
    "  (SELECT max(z.at_utc) FROM ready z WHERE z.host=r.host"               \
    "   AND z.gpu=r.gpu AND z.at_utc<=l.at_utc)"

#endif

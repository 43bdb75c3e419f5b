/* stored_refuted.h - configurations that a confirmation found wrong
 *
 * A screening result may be right, and the kernel wrong all the same: at a fuzz
 * shape, or in one launch of many.  The newest confirmation in which the
 * configuration took part, with the sources that it has, decides: the proof
 * before it rejected the configuration, or a block did.  It does not count for
 * results that were measured differently later, such as with another
 * tolerance.
 *
 * Everything that says whether a configuration is believed right asks here.
 * Thread rule: that of the store.
 */
#ifndef FA_COORDINATOR_STORED_STORED_REFUTED_H
#define FA_COORDINATOR_STORED_STORED_REFUTED_H

struct err;
struct store;

/* Text for queries: rows of config, outcome and reason, a configuration once.
 * A reason begins with the outcome, or else the wrong block has it, whose
 * coordinator may have been killed before the reason was stored.  Older
 * versions stored no sources with a pass that had no finalist left: its time
 * tells which results it is about. */
#define STORED_REFUTED                                                         \
    "SELECT t.config AS config,"                                               \
    " CASE WHEN substr(t.reason, 1, instr(t.reason, ' ') - 1) IN ('runtime',"  \
    "  'timeout', 'crash') THEN substr(t.reason, 1, instr(t.reason, ' ') - 1)" \
    "  ELSE coalesce(b.outcome, 'correctness') END AS outcome,"                \
    " coalesce(nullif(t.reason, ''), 'it was wrong in a block') AS reason"     \
    " FROM (SELECT c.config, c.source_key, c.role, c.reason, k.started_utc,"   \
    "  max(c.pass) AS pass FROM contestant c JOIN contest k ON k.pass=c.pass"  \
    "  WHERE k.kind='confirm' GROUP BY c.config, c.source_key) t"              \
    " JOIN config f ON f.key=t.config AND (f.source_key=t.source_key"          \
    "  OR t.source_key='' AND NOT EXISTS (SELECT 1 FROM outcome o"             \
    "   WHERE o.config=t.config AND o.source_key=f.source_key"                 \
    "   AND o.settled_utc>t.started_utc))"                                     \
    " LEFT JOIN (SELECT r.config, r.source_key, r.round / 10000 AS pass,"      \
    "  r.outcome, min(r.round) FROM result r WHERE r.purpose='confirm'"        \
    "  AND r.counted=1 AND r.outcome<>'correct'"                               \
    "  GROUP BY r.config, r.source_key, r.round / 10000) b"                    \
    " ON b.config=t.config AND b.source_key=t.source_key AND b.pass=t.pass"    \
    " WHERE (t.role='rejected' OR t.reason<>'' OR b.outcome IS NOT NULL)"      \
    " AND NOT EXISTS (SELECT 1 FROM contest_shape s JOIN outcome o"            \
    "  ON o.config=t.config AND o.source_key=t.source_key AND o.shape=s.shape" \
    "  WHERE s.pass=t.pass AND o.measure_key<>s.measure_key"                   \
    "  AND o.settled_utc>t.started_utc)"

struct stored_refuted {
    const char *config, *outcome, *reason;
};
typedef void stored_refuted_fn(void *arg, const struct stored_refuted *refuted);

/* Tell of each, in order of the keys; texts live for the call.  ERR_STORE */
int stored_refuted_each(struct store *store, stored_refuted_fn *fn, void *arg,
                        struct err *err);

#endif

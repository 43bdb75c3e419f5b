-- Format 3: how the samples of a result were taken.  An older row does not say,
-- so it gets 'fixed', 'unknown' and 0.  A row that was changed after it was
-- written gets no valid checksum.
DROP INDEX result_identity;
ALTER TABLE result RENAME TO result_2;
CREATE TABLE result(
  nonce TEXT PRIMARY KEY, epoch INTEGER NOT NULL, config TEXT NOT NULL,
  shape TEXT NOT NULL, purpose TEXT NOT NULL, round INTEGER NOT NULL,
  attempt INTEGER NOT NULL, source_key TEXT NOT NULL,
  measure_key TEXT NOT NULL, host TEXT NOT NULL, gpu TEXT NOT NULL,
  artifact TEXT NOT NULL, outcome TEXT NOT NULL, detail TEXT NOT NULL,
  argument TEXT NOT NULL, relative_l2 REAL, max_error REAL,
  max_at INTEGER NOT NULL, samples TEXT NOT NULL,
  sampling TEXT NOT NULL,         -- why so many: none fixed settled loser
                                  -- unstable
  rejected TEXT NOT NULL,         -- JSON array: samples that do not count
  l2 TEXT NOT NULL,               -- none warm flush, or 'rotate COPIES'
  blocked INTEGER NOT NULL,       -- 1: each batch was queued before it began
  clock_mhz TEXT NOT NULL, temp_c TEXT NOT NULL, power_w TEXT NOT NULL,
  throttle TEXT NOT NULL, held_s REAL NOT NULL, seconds REAL NOT NULL,
  registers INTEGER NOT NULL, spill_bytes INTEGER NOT NULL,
  static_smem INTEGER NOT NULL, counted INTEGER NOT NULL,
  received_utc INTEGER NOT NULL, checksum TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO result SELECT
  nonce, epoch, config, shape, purpose, round, attempt, source_key,
  measure_key, host, gpu, artifact, outcome, detail, argument, relative_l2,
  max_error, max_at, samples, iif(samples='[]','none','fixed'), '[]',
  iif(samples='[]','none','unknown'), 0, clock_mhz, temp_c, power_w, throttle,
  held_s, seconds, registers, spill_bytes, static_smem, counted,
  received_utc,
  iif(checksum=checksum_row(
    nonce, epoch, config, shape, purpose, round, attempt, source_key,
    measure_key, host, gpu, artifact, outcome, detail, argument, relative_l2,
    max_error, max_at, samples, clock_mhz, temp_c, power_w, throttle, held_s,
    seconds, registers, spill_bytes, static_smem, counted, received_utc),
    checksum_row(
    nonce, epoch, config, shape, purpose, round, attempt, source_key,
    measure_key, host, gpu, artifact, outcome, detail, argument, relative_l2,
    max_error, max_at, samples, iif(samples='[]','none','fixed'), '[]',
    iif(samples='[]','none','unknown'), 0, clock_mhz, temp_c, power_w,
    throttle, held_s, seconds, registers, spill_bytes, static_smem, counted,
    received_utc),
    checksum)
  FROM result_2;
DROP TABLE result_2;
CREATE UNIQUE INDEX result_identity ON result
  (config, shape, purpose, round, source_key, measure_key) WHERE counted = 1;

-- Format 5: rows of 'result' and 'build' are stored in the order in which they
-- came.  WITHOUT ROWID keeps at most a quarter of a page of a row in place.
-- These rows are longer, and their keys are random, so each row took a page of
-- its own and part of another.  Nothing else differs.
DROP INDEX result_identity;
ALTER TABLE result RENAME TO result_4;
CREATE TABLE result(
  nonce TEXT PRIMARY KEY, epoch INTEGER NOT NULL, config TEXT NOT NULL,
  shape TEXT NOT NULL, purpose TEXT NOT NULL, round INTEGER NOT NULL,
  attempt INTEGER NOT NULL, source_key TEXT NOT NULL,
  measure_key TEXT NOT NULL, host TEXT NOT NULL, gpu TEXT NOT NULL,
  artifact TEXT NOT NULL, outcome TEXT NOT NULL, detail TEXT NOT NULL,
  argument TEXT NOT NULL, relative_l2 REAL, max_error REAL,
  max_at INTEGER NOT NULL, samples TEXT NOT NULL, sampling TEXT NOT NULL,
  rejected TEXT NOT NULL, l2 TEXT NOT NULL, blocked INTEGER NOT NULL,
  clock_mhz TEXT NOT NULL, temp_c TEXT NOT NULL, power_w TEXT NOT NULL,
  throttle TEXT NOT NULL, held_s REAL NOT NULL, seconds REAL NOT NULL,
  registers INTEGER NOT NULL, spill_bytes INTEGER NOT NULL,
  static_smem INTEGER NOT NULL, counted INTEGER NOT NULL,
  received_utc INTEGER NOT NULL, checksum TEXT NOT NULL
) STRICT;
INSERT INTO result SELECT * FROM result_4;
DROP TABLE result_4;
CREATE UNIQUE INDEX result_identity ON result
  (config, shape, purpose, round, source_key, measure_key) WHERE counted = 1;

DROP INDEX build_config;
ALTER TABLE build RENAME TO build_4;
CREATE TABLE build(
  nonce TEXT PRIMARY KEY, epoch INTEGER NOT NULL, config TEXT NOT NULL,
  purpose TEXT NOT NULL, attempt INTEGER NOT NULL, source_key TEXT NOT NULL,
  build_key TEXT NOT NULL, host TEXT NOT NULL, outcome TEXT NOT NULL,
  detail TEXT NOT NULL, artifact TEXT NOT NULL,
  artifact_bytes INTEGER NOT NULL, seconds REAL NOT NULL,
  cached INTEGER NOT NULL, registers INTEGER NOT NULL,
  spill_bytes INTEGER NOT NULL, static_smem INTEGER NOT NULL,
  log TEXT NOT NULL, counted INTEGER NOT NULL, received_utc INTEGER NOT NULL,
  checksum TEXT NOT NULL
) STRICT;
INSERT INTO build SELECT * FROM build_4;
DROP TABLE build_4;
CREATE INDEX build_config ON build(config);

-- Format 8: what a confirmation's rule is against, when a confirmation is
-- looked at (coordinator/confirm/sequential.h), and NULL for what is not known.

-- The name of an external baseline (docs/external-baseline.md); NULL: the
-- baseline.
ALTER TABLE contest ADD COLUMN against TEXT;

-- Blocks from look to look, at least; 0: only at the end, after 'blocks'.
ALTER TABLE contest ADD COLUMN look_blocks INTEGER NOT NULL DEFAULT 0;
-- The cap; 0 without looks.
ALTER TABLE contest ADD COLUMN most_blocks INTEGER NOT NULL DEFAULT 0;
-- 1: a look asks about the geometric mean of all shapes, too.
ALTER TABLE contest ADD COLUMN look_over_all INTEGER NOT NULL DEFAULT 0;

-- A kernel has a register, so older rows without one do not know what it takes:
-- 0 or -1.  A row that was not as it was written does not become so.
CREATE TABLE build_8(
  nonce TEXT PRIMARY KEY, epoch INTEGER NOT NULL REFERENCES run(epoch),
  config TEXT NOT NULL,
  purpose TEXT NOT NULL CHECK(purpose IN ('kernel', 'reference')),
  attempt INTEGER NOT NULL, source_key TEXT NOT NULL, build_key TEXT NOT NULL,
  host TEXT NOT NULL,
  outcome TEXT NOT NULL
    CHECK(outcome='built' OR outcome='compile' OR outcome='timeout'
    OR outcome='crash'),
  detail TEXT NOT NULL, artifact TEXT NOT NULL,
  artifact_bytes INTEGER NOT NULL, seconds REAL NOT NULL,
  cached INTEGER NOT NULL,
  registers INTEGER,              -- a thread; NULL: not known
  spill_bytes INTEGER,            -- likewise
  static_smem INTEGER,            -- bytes a block; NULL: not known
  log TEXT NOT NULL, counted INTEGER NOT NULL CHECK(counted IN (0, 1)),
  received_utc INTEGER NOT NULL, checksum TEXT NOT NULL
) STRICT;
INSERT INTO build_8 SELECT
  nonce, epoch, config, purpose, attempt, source_key, build_key, host,
  outcome, detail, artifact, artifact_bytes, seconds, cached,
  nullif(max(registers, 0), 0),
  iif(registers>0 AND spill_bytes>=0, spill_bytes, NULL),
  iif(registers>0 AND static_smem>=0, static_smem, NULL), log, counted,
  received_utc,
  iif(checksum=checksum_row(
    nonce, epoch, config, purpose, attempt, source_key, build_key, host,
    outcome, detail, artifact, artifact_bytes, seconds, cached, registers,
    spill_bytes, static_smem, log, counted, received_utc),
    '', ifnull(nullif(checksum, ''), '?')) FROM build;
UPDATE build_8 SET checksum=checksum_row(
  nonce, epoch, config, purpose, attempt, source_key, build_key, host,
  outcome, detail, artifact, artifact_bytes, seconds, cached, registers,
  spill_bytes, static_smem, log, counted, received_utc)
  WHERE checksum='';
DROP TABLE build;
ALTER TABLE build_8 RENAME TO build;
CREATE INDEX build_config ON build(config);

CREATE TABLE result_8(
  nonce TEXT PRIMARY KEY, epoch INTEGER NOT NULL,
  config TEXT NOT NULL, shape TEXT NOT NULL,
  purpose TEXT NOT NULL
    CHECK(purpose='screen' OR purpose='canary' OR purpose='confirm'),
  round INTEGER NOT NULL, attempt INTEGER NOT NULL, source_key TEXT NOT NULL,
  measure_key TEXT NOT NULL, host TEXT NOT NULL, gpu TEXT NOT NULL,
  artifact TEXT NOT NULL,
  outcome TEXT NOT NULL
    CHECK(outcome='correct' OR outcome='constraints' OR outcome='compile'
    OR outcome='runtime' OR outcome='correctness' OR outcome='timeout'
    OR outcome='lost' OR outcome='crash'),
  detail TEXT NOT NULL, argument TEXT NOT NULL, relative_l2 REAL,
  max_error REAL,
  max_at INTEGER,                 -- the element of max_error; NULL: not known
  samples TEXT NOT NULL,
  sampling TEXT NOT NULL
    CHECK(sampling='none' OR sampling='fixed' OR sampling='settled'
    OR sampling='loser' OR sampling='unstable' OR sampling=''),
  rejected TEXT NOT NULL, l2 TEXT NOT NULL, blocked INTEGER NOT NULL,
  clock_mhz TEXT NOT NULL, temp_c TEXT NOT NULL, power_w TEXT NOT NULL,
  throttle TEXT NOT NULL, held_s REAL NOT NULL, seconds REAL NOT NULL,
  registers INTEGER, spill_bytes INTEGER, static_smem INTEGER,
  counted INTEGER NOT NULL CHECK(counted IN (0, 1)),
  received_utc INTEGER NOT NULL, checksum TEXT NOT NULL
) STRICT;
INSERT INTO result_8 SELECT
  nonce, epoch, config, shape, purpose, round, attempt, source_key,
  measure_key, host, gpu, artifact, outcome, detail, argument, relative_l2,
  max_error, iif(max_error IS NOT NULL AND max_at>=0, max_at, NULL), samples,
  sampling, rejected, l2, blocked, clock_mhz, temp_c, power_w, throttle,
  held_s, seconds, nullif(max(registers, 0), 0),
  iif(registers>0 AND spill_bytes>=0, spill_bytes, NULL),
  iif(registers>0 AND static_smem>=0, static_smem, NULL), counted,
  received_utc,
  iif(checksum=checksum_row(
    nonce, epoch, config, shape, purpose, round, attempt, source_key,
    measure_key, host, gpu, artifact, outcome, detail, argument,
    relative_l2, max_error, max_at, samples, sampling, rejected, l2,
    blocked, clock_mhz, temp_c, power_w, throttle, held_s, seconds,
    registers, spill_bytes, static_smem, counted, received_utc),
    '', ifnull(nullif(checksum, ''), '?')) FROM result;
UPDATE result_8 SET checksum=checksum_row(
  nonce, epoch, config, shape, purpose, round, attempt, source_key,
  measure_key, host, gpu, artifact, outcome, detail, argument, relative_l2,
  max_error, max_at, samples, sampling, rejected, l2, blocked, clock_mhz,
  temp_c, power_w, throttle, held_s, seconds, registers, spill_bytes,
  static_smem, counted, received_utc)
  WHERE checksum='';
DROP TABLE result;
ALTER TABLE result_8 RENAME TO result;
CREATE UNIQUE INDEX result_identity ON result
  (config, shape, purpose, round, source_key, measure_key) WHERE counted = 1;

CREATE TABLE tool_8(
  nonce TEXT PRIMARY KEY, epoch INTEGER NOT NULL REFERENCES run(epoch),
  purpose TEXT NOT NULL CHECK(purpose IN ('external', 'profile')),
  name TEXT NOT NULL, config TEXT NOT NULL, shape TEXT NOT NULL,
  round INTEGER NOT NULL, attempt INTEGER NOT NULL, key TEXT NOT NULL,
  host TEXT NOT NULL, gpu TEXT NOT NULL,
  outcome TEXT NOT NULL
    CHECK(outcome='ran' OR outcome='missing' OR outcome='failed'
    OR outcome='timeout' OR outcome='crash' OR outcome='garbage'),
  detail TEXT NOT NULL,
  status INTEGER,                 -- exit status; NULL: it did not exit
  output TEXT NOT NULL, log TEXT NOT NULL, seconds REAL NOT NULL,
  counted INTEGER NOT NULL CHECK(counted IN (0, 1)),
  received_utc INTEGER NOT NULL, checksum TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO tool_8 SELECT
  nonce, epoch, purpose, name, config, shape, round, attempt, key, host, gpu,
  outcome, detail, iif(status>=0, status, NULL), output, log, seconds,
  counted, received_utc,
  iif(checksum=checksum_row(
    nonce, epoch, purpose, name, config, shape, round, attempt, key, host,
    gpu, outcome, detail, status, output, log, seconds, counted,
    received_utc),
    '', ifnull(nullif(checksum, ''), '?')) FROM tool;
UPDATE tool_8 SET checksum=checksum_row(
  nonce, epoch, purpose, name, config, shape, round, attempt, key, host,
  gpu, outcome, detail, status, output, log, seconds, counted, received_utc)
  WHERE checksum='';
DROP TABLE tool;
ALTER TABLE tool_8 RENAME TO tool;
CREATE UNIQUE INDEX tool_identity ON tool
  (purpose, config, shape, round, gpu, key) WHERE counted = 1;

-- Format 9: on how many checked launches a result rests; NULL for what is not
-- known.  A row that was not as it was written does not become so.
CREATE TABLE result_9(
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
  rejected TEXT NOT NULL, l2 TEXT NOT NULL,
  checked INTEGER,                -- launches whose outputs were found right;
                                  -- samples are some of them
  varied INTEGER                  -- 1: the same inputs gave outputs that
    CHECK(varied IN (0, 1)),      -- differ in bits
  blocked INTEGER NOT NULL,
  clock_mhz TEXT NOT NULL, temp_c TEXT NOT NULL, power_w TEXT NOT NULL,
  throttle TEXT NOT NULL, held_s REAL NOT NULL, seconds REAL NOT NULL,
  registers INTEGER, spill_bytes INTEGER, static_smem INTEGER,
  counted INTEGER NOT NULL CHECK(counted IN (0, 1)),
  received_utc INTEGER NOT NULL, checksum TEXT NOT NULL
) STRICT;
INSERT INTO result_9 SELECT
  nonce, epoch, config, shape, purpose, round, attempt, source_key,
  measure_key, host, gpu, artifact, outcome, detail, argument, relative_l2,
  max_error, max_at, samples, sampling, rejected, l2, NULL, NULL, blocked,
  clock_mhz, temp_c, power_w, throttle, held_s, seconds, registers,
  spill_bytes, static_smem, counted, received_utc,
  iif(checksum=checksum_row(
    nonce, epoch, config, shape, purpose, round, attempt, source_key,
    measure_key, host, gpu, artifact, outcome, detail, argument,
    relative_l2, max_error, max_at, samples, sampling, rejected, l2,
    blocked, clock_mhz, temp_c, power_w, throttle, held_s, seconds,
    registers, spill_bytes, static_smem, counted, received_utc),
    '', ifnull(nullif(checksum, ''), '?')) FROM result;
UPDATE result_9 SET checksum=checksum_row(
  nonce, epoch, config, shape, purpose, round, attempt, source_key,
  measure_key, host, gpu, artifact, outcome, detail, argument, relative_l2,
  max_error, max_at, samples, sampling, rejected, l2, checked, varied,
  blocked, clock_mhz, temp_c, power_w, throttle, held_s, seconds, registers,
  spill_bytes, static_smem, counted, received_utc)
  WHERE checksum='';
DROP TABLE result;
ALTER TABLE result_9 RENAME TO result;
CREATE UNIQUE INDEX result_identity ON result
  (config, shape, purpose, round, source_key, measure_key) WHERE counted = 1;

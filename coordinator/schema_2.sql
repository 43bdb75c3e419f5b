-- Format 2: added to schema.sql.

-- A confirmation or a bench.  Its measurements are rows of 'result' with the
-- purpose 'confirm' and the round pass * 10000 + block.
CREATE TABLE contest(
  pass INTEGER PRIMARY KEY,       -- 1, 2, ... of this database
  sweep INTEGER NOT NULL REFERENCES sweep(id),
  kind TEXT NOT NULL,             -- confirm bench
  seed INTEGER NOT NULL,          -- of the orders inside the blocks
  blocks INTEGER NOT NULL,        -- complete ones that are wanted
  samples INTEGER NOT NULL,       -- of a contestant in a block
  alpha REAL NOT NULL,            -- what the verdict is to hold against
  floor REAL NOT NULL,
  target REAL NOT NULL,
  possible INTEGER NOT NULL,      -- configurations that could be the best
  cut REAL,                       -- the fastest that the cap left out over
                                  -- the fastest; NULL: it left out none
  proof_hours REAL NOT NULL,      -- held for the proof before it (fuzz)
  proof_usd REAL,                 -- NULL: unpriced
  started_utc INTEGER NOT NULL,
  ended_utc INTEGER,              -- NULL: it can be gone on with
  ending TEXT                     -- done failed
) STRICT;

CREATE TABLE contestant(
  pass INTEGER NOT NULL REFERENCES contest(pass),
  position INTEGER NOT NULL,      -- 0 is the baseline
  config TEXT NOT NULL,
  source_key TEXT NOT NULL,       -- what a build of it is made from
  role TEXT NOT NULL,             -- baseline finalist; rejected: did not run
  reason TEXT NOT NULL,           -- why it was rejected, or is out; else ''
  PRIMARY KEY(pass, position)
) STRICT, WITHOUT ROWID;

-- Where they were compared, the headline first.
CREATE TABLE contest_shape(
  pass INTEGER NOT NULL REFERENCES contest(pass),
  position INTEGER NOT NULL,
  shape TEXT NOT NULL,
  measure_key TEXT NOT NULL,      -- shape, arguments, reference, tolerance
  PRIMARY KEY(pass, position)
) STRICT, WITHOUT ROWID;

-- What a search asked for and what it was told, in order.
-- The same steps bring the same strategy to the same state, so a search that
-- was interrupted goes on to the points it would have gone on to.
CREATE TABLE step(
  sweep INTEGER NOT NULL REFERENCES sweep(id),
  position INTEGER NOT NULL,      -- 0, 1, ...
  kind TEXT NOT NULL,             -- asked timed failed lost
  config TEXT NOT NULL,
  point INTEGER NOT NULL,         -- its number in this sweep, before pruning
  rung INTEGER NOT NULL,          -- of a race; 0 without one
  time_s REAL,                    -- that was told; NULL unless timed
  PRIMARY KEY(sweep, position)
) STRICT, WITHOUT ROWID;

-- How the samples of a result were taken.  What an older row does not tell is
-- 'fixed', 'unknown' and 0, and a row that was not as it was written does not
-- become so.
DROP INDEX result_identity;
ALTER TABLE result RENAME TO result_1;
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
  FROM result_1;
DROP TABLE result_1;
CREATE UNIQUE INDEX result_identity ON result
  (config, shape, purpose, round, source_key, measure_key) WHERE counted = 1;

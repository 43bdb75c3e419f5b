-- Added to schema.sql: what was compared with the baseline in blocks.

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

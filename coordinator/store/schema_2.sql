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

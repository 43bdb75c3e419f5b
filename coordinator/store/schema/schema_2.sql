-- Format 2: passes of a confirmation, steps of a search.

-- A confirmation or a bench.  Its measurements are rows of 'result' with the
-- purpose 'confirm' and the round pass * 10000 + block.
CREATE TABLE contest(
  pass INTEGER PRIMARY KEY,       -- 1, 2, ... of this database
  sweep INTEGER NOT NULL REFERENCES sweep(id),
  kind TEXT NOT NULL,             -- confirm bench
  seed INTEGER NOT NULL,          -- of the orders inside the blocks
  blocks INTEGER NOT NULL,        -- how many complete blocks are wanted
  samples INTEGER NOT NULL,       -- of each contestant in a block
  alpha REAL NOT NULL,            -- significance level of the verdict
  floor REAL NOT NULL,
  target REAL NOT NULL,
  possible INTEGER NOT NULL,      -- configurations that may be the best
  cut REAL,                       -- time of the fastest one that the cap left
                                  -- out, over the fastest; NULL: left out none
  proof_hours REAL NOT NULL,      -- hours held for the fuzz proof before it
  proof_usd REAL,                 -- NULL: unpriced
  started_utc INTEGER NOT NULL,
  ended_utc INTEGER,              -- NULL: it can be continued
  ending TEXT                     -- done failed
) STRICT;

CREATE TABLE contestant(
  pass INTEGER NOT NULL REFERENCES contest(pass),
  position INTEGER NOT NULL,      -- 0 is the baseline
  config TEXT NOT NULL,
  source_key TEXT NOT NULL,       -- sources and parameters of its build
  role TEXT NOT NULL,             -- baseline finalist; rejected: did not run
  reason TEXT NOT NULL,           -- why it was rejected or left out, or ''
  PRIMARY KEY(pass, position)
) STRICT, WITHOUT ROWID;

-- The shapes of the comparison, the headline first.
CREATE TABLE contest_shape(
  pass INTEGER NOT NULL REFERENCES contest(pass),
  position INTEGER NOT NULL,
  shape TEXT NOT NULL,
  measure_key TEXT NOT NULL,      -- shape, arguments, reference, tolerance
  PRIMARY KEY(pass, position)
) STRICT, WITHOUT ROWID;

-- What a search asked for and what it was told, in order.  The same steps bring
-- a strategy to the same state, so a search that was interrupted continues with
-- the points that it would have asked for.
CREATE TABLE step(
  sweep INTEGER NOT NULL REFERENCES sweep(id),
  position INTEGER NOT NULL,      -- 0, 1, ...
  kind TEXT NOT NULL,             -- asked timed failed lost
  config TEXT NOT NULL,
  point INTEGER NOT NULL,         -- number in this sweep, before pruning
  rung INTEGER NOT NULL,          -- of successive halving; otherwise 0
  time_s REAL,                    -- what the search was told; or NULL
  PRIMARY KEY(sweep, position)
) STRICT, WITHOUT ROWID;

-- Added to schema.sql: what a search asked for and what it was told, in order.
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

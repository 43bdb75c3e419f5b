-- Format 4: commands that were run on workers beside the kernels.

-- A run of the external baseline (docs/external-baseline.md), in a block of a
-- confirmation, or of a profiler (docs/profile.md).
CREATE TABLE tool(
  nonce TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL,
  purpose TEXT NOT NULL,          -- external profile
  name TEXT NOT NULL,             -- as the sweep file calls it; the program
  config TEXT NOT NULL,           -- of a profile; else the baseline's
  shape TEXT NOT NULL,
  round INTEGER NOT NULL,         -- external: pass * 10000 + block
  attempt INTEGER NOT NULL,
  key TEXT NOT NULL,              -- what it was run for: command, files
  host TEXT NOT NULL,
  gpu TEXT NOT NULL,
  outcome TEXT NOT NULL,          -- ran missing failed timeout crash; garbage:
                                  -- it ran, and what it printed is no result
  detail TEXT NOT NULL,           -- why, one line
  status INTEGER NOT NULL,        -- exit status, -1 without
  output TEXT NOT NULL,           -- what it printed
  log TEXT NOT NULL,              -- its stderr, head and tail
  seconds REAL NOT NULL,
  counted INTEGER NOT NULL,       -- 0: late, repeated or lost, evidence only
  received_utc INTEGER NOT NULL,
  checksum TEXT NOT NULL          -- BLAKE2b of the columns before it
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX tool_identity ON tool
  (purpose, config, shape, round, gpu, key) WHERE counted = 1;

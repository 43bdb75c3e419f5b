-- Format 4: commands that workers ran besides kernels.

-- One run of a profiler (docs/profile.md), or of the external baseline in a
-- block of a confirmation (docs/external-baseline.md).
CREATE TABLE tool(
  nonce TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL,
  purpose TEXT NOT NULL,          -- external profile
  name TEXT NOT NULL,             -- its name in the sweep file; the profiler
  config TEXT NOT NULL,           -- profiled one; otherwise the baseline
  shape TEXT NOT NULL,
  round INTEGER NOT NULL,         -- external: pass * 10000 + block
  attempt INTEGER NOT NULL,
  key TEXT NOT NULL,              -- what was run: the command, its files
  host TEXT NOT NULL,
  gpu TEXT NOT NULL,
  outcome TEXT NOT NULL,          -- ran missing failed timeout crash; garbage:
                                  -- it ran, and its output is no result
  detail TEXT NOT NULL,           -- the reason, one line
  status INTEGER NOT NULL,        -- exit status, or -1
  output TEXT NOT NULL,           -- its stdout
  log TEXT NOT NULL,              -- its stderr, head and tail
  seconds REAL NOT NULL,
  counted INTEGER NOT NULL,       -- 0: late, repeated or lost, evidence only
  received_utc INTEGER NOT NULL,
  checksum TEXT NOT NULL          -- BLAKE2b of the columns before it
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX tool_identity ON tool
  (purpose, config, shape, round, gpu, key) WHERE counted = 1;

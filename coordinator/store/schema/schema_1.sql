-- Format 1.

-- The database of one sweep.  It holds facts only; ranks, medians and dollars
-- are queries.
-- Times are seconds; instants are UTC nanoseconds (column names end in _utc).

-- One row for each run of the coordinator; 'epoch' is the UTC ns of its start.
CREATE TABLE run(
  epoch INTEGER PRIMARY KEY,
  ended_utc INTEGER,              -- NULL while running, and after kill -9
  pid INTEGER NOT NULL,
  machine TEXT NOT NULL,          -- host name of the coordinator's machine
  version TEXT NOT NULL,
  command TEXT NOT NULL,          -- sweep, resume
  ending TEXT                     -- done partial interrupted budget error
) STRICT;

-- The sweep file, once for each run that changed it, as it was when that run
-- started.  The newest row is the current one.
CREATE TABLE sweep(
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,       -- BLAKE2b of the file and the sources
  name TEXT NOT NULL,
  folder TEXT NOT NULL,           -- folder of the sweep file, absolute
  file TEXT NOT NULL,             -- name of the sweep file there
  hosts_file TEXT NOT NULL,       -- absolute, '' for this machine alone
  spec TEXT NOT NULL,             -- the sweep file, byte for byte
  device TEXT NOT NULL,           -- cuda cpu replay
  arch TEXT NOT NULL,             -- architecture of gates and builds: sm_89
  facts TEXT NOT NULL,            -- JSON object: the device facts used
  configurations INTEGER NOT NULL,-- before gates
  passed INTEGER NOT NULL,        -- after the reject gates
  settings TEXT NOT NULL,         -- JSON object: the resolved settings
  created_utc INTEGER NOT NULL
) STRICT;

CREATE TABLE gate(
  sweep INTEGER NOT NULL REFERENCES sweep(id),
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,             -- reject warn
  rule TEXT NOT NULL,
  why TEXT NOT NULL,
  rejected_first INTEGER,         -- points no earlier gate had rejected
  rejected_alone INTEGER,         -- points, if it were the only gate
  PRIMARY KEY(sweep, position)
) STRICT, WITHOUT ROWID;

-- A problem shape.  The first one is the headline.
CREATE TABLE shape(
  sweep INTEGER NOT NULL REFERENCES sweep(id),
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  vars TEXT NOT NULL,             -- JSON object of integers
  floor_s REAL,                   -- the largest floor, NULL without floors
  floor_name TEXT,
  PRIMARY KEY(sweep, position)
) STRICT, WITHOUT ROWID;

-- A configuration that a sweep asked for; 'sweep' is the newest one that did.
CREATE TABLE config(
  key TEXT PRIMARY KEY,           -- BLAKE2b of the canonical parameters
  sweep INTEGER NOT NULL REFERENCES sweep(id),
  point INTEGER NOT NULL,         -- number before pruning; -1: off the axes
  baseline INTEGER NOT NULL,      -- 1 for the baseline
  params TEXT NOT NULL,           -- JSON object, in file order
  warnings TEXT NOT NULL,         -- JSON array of the warn gates it hits
  source_key TEXT NOT NULL        -- sources and parameters of its build
) STRICT, WITHOUT ROWID;

-- The terminal state of a configuration, one row for each shape.  The row is
-- replaced when the sources change.
CREATE TABLE outcome(
  config TEXT NOT NULL,
  shape TEXT NOT NULL,
  source_key TEXT NOT NULL,
  measure_key TEXT NOT NULL,      -- shape, arguments, reference, tolerance
  outcome TEXT NOT NULL,          -- correct constraints compile runtime
                                  -- correctness timeout lost crash
  reason TEXT NOT NULL,           -- one line of evidence
  nonce TEXT,                     -- the result or build that settled it
  median_s REAL,                  -- of its samples, for queries; or NULL
  attempts INTEGER NOT NULL,      -- leases of its MEASURE and BUILD that ended
  settled_utc INTEGER NOT NULL,
  PRIMARY KEY(config, shape, source_key, measure_key)
) STRICT, WITHOUT ROWID;

CREATE TABLE host(
  name TEXT PRIMARY KEY,          -- as in hosts.txt, or 'localhost'
  position INTEGER NOT NULL,
  rate_usd_per_h REAL,            -- NULL: unpriced
  machine TEXT NOT NULL DEFAULT '', -- its host name
  boot_id TEXT NOT NULL DEFAULT '',
  worker_version TEXT NOT NULL DEFAULT '',
  toolkit TEXT NOT NULL DEFAULT '',
  cpus INTEGER NOT NULL DEFAULT 0,
  slots INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE gpu(
  uuid TEXT PRIMARY KEY,
  host TEXT NOT NULL,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  driver TEXT NOT NULL,
  facts TEXT NOT NULL             -- JSON object
) STRICT, WITHOUT ROWID;

-- Every piece of work that was given to a host.
CREATE TABLE lease(
  epoch INTEGER NOT NULL,
  id INTEGER NOT NULL,            -- unique in its epoch
  config TEXT NOT NULL,           -- its key; of the reference, the source key
  shape TEXT NOT NULL,            -- '' for a build
  purpose TEXT NOT NULL,          -- screen canary confirm; kernel reference
  stage TEXT NOT NULL,            -- build measure tool
  round INTEGER NOT NULL,
  attempt INTEGER NOT NULL,       -- 1 is the first
  host TEXT NOT NULL,
  gpu TEXT NOT NULL,              -- '' for a build
  leased_utc INTEGER NOT NULL,
  ended_utc INTEGER,
  ending TEXT,                    -- done lost refused cancelled
  PRIMARY KEY(epoch, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE build(
  nonce TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL,
  config TEXT NOT NULL,
  purpose TEXT NOT NULL,          -- kernel reference
  attempt INTEGER NOT NULL,
  source_key TEXT NOT NULL,
  build_key TEXT NOT NULL,        -- source key, compiler version, arch
  host TEXT NOT NULL,
  outcome TEXT NOT NULL,          -- built compile timeout crash
  detail TEXT NOT NULL,
  artifact TEXT NOT NULL,         -- BLAKE2b of the cubin, '' if none
  artifact_bytes INTEGER NOT NULL,
  seconds REAL NOT NULL,
  cached INTEGER NOT NULL,
  registers INTEGER NOT NULL,
  spill_bytes INTEGER NOT NULL,
  static_smem INTEGER NOT NULL,
  log TEXT NOT NULL,
  counted INTEGER NOT NULL,       -- 0: late or repeated, kept as evidence
  received_utc INTEGER NOT NULL,
  checksum TEXT NOT NULL          -- BLAKE2b of the columns before it
) STRICT, WITHOUT ROWID;

CREATE TABLE result(
  nonce TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL,
  config TEXT NOT NULL,
  shape TEXT NOT NULL,
  purpose TEXT NOT NULL,          -- screen canary confirm
  round INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  source_key TEXT NOT NULL,
  measure_key TEXT NOT NULL,
  host TEXT NOT NULL,
  gpu TEXT NOT NULL,
  artifact TEXT NOT NULL,         -- what was measured
  outcome TEXT NOT NULL,
  detail TEXT NOT NULL,
  argument TEXT NOT NULL,         -- the output that was wrong, '' otherwise
  relative_l2 REAL,
  max_error REAL,
  max_at INTEGER NOT NULL,
  samples TEXT NOT NULL,          -- JSON array, seconds, in order
  clock_mhz TEXT NOT NULL,        -- JSON arrays: before, after; null: unknown
  temp_c TEXT NOT NULL,
  power_w TEXT NOT NULL,
  throttle TEXT NOT NULL,
  held_s REAL NOT NULL,           -- time on the GPU: load, check, time, check
  seconds REAL NOT NULL,          -- at the worker, with waiting
  registers INTEGER NOT NULL,
  spill_bytes INTEGER NOT NULL,
  static_smem INTEGER NOT NULL,
  counted INTEGER NOT NULL,       -- 0: late or repeated, kept as evidence
  received_utc INTEGER NOT NULL,
  checksum TEXT NOT NULL          -- BLAKE2b of the columns before it
) STRICT, WITHOUT ROWID;

-- At most one counted result for each identity (invariant I2).
CREATE UNIQUE INDEX result_identity ON result
  (config, shape, purpose, round, source_key, measure_key) WHERE counted = 1;
CREATE INDEX build_config ON build(config);

-- What each host was held for.  While a run holds a host, its intervals have no
-- gap and no overlap.  Each commit extends the newest interval of a host.
CREATE TABLE interval(
  host TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  start_ns INTEGER NOT NULL,      -- CLOCK_BOOTTIME of the coordinator
  end_ns INTEGER NOT NULL,
  start_utc INTEGER NOT NULL,
  category TEXT NOT NULL,         -- acquiring setup uploading building
                                  -- measuring idle failed lost
  lease INTEGER,                  -- the lease that used the time
  PRIMARY KEY(host, epoch, start_ns)
) STRICT, WITHOUT ROWID;

CREATE TABLE event(
  id INTEGER PRIMARY KEY,
  at_utc INTEGER NOT NULL,
  level TEXT NOT NULL,            -- E W I
  name TEXT NOT NULL,             -- LEASE-LOST, HOST-READY, ...
  text TEXT NOT NULL
) STRICT;

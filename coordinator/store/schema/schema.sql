-- The database of one sweep, as a new one is made.  schema_N.sql bring an older
-- one to format N; test_schema.c compares what they make with this file.
--
-- It holds facts only; ranks, medians and dollars are queries.
-- Times are seconds; instants are UTC nanoseconds (column names end in _utc).
-- NULL means "not known", unless a comment says otherwise.
-- Every row ends in the checksum of the columns before it (checksum.h).
--
-- Words are compared one by one.  With more than two words, IN makes a table
-- for each row, which made storing a result 20 % slower.  test_schema.c
-- compares the lists with the enums.
--
-- Columns that repeat the words of a worker (config, shape and gpu of 'build',
-- 'result' and 'tool') refer to no row, because evidence of unknown work is
-- kept, too.

-- The name of this database to the workers that serve it: 32 random hex digits.
CREATE TABLE owner(
  id TEXT NOT NULL,
  checksum INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO owner(id) VALUES(lower(hex(randomblob(16))));
UPDATE owner SET checksum=checksum_short(id);

-- What the last commit left in each other table (tally.h).
CREATE TABLE tally(
  name TEXT PRIMARY KEY,          -- of the table
  row_count INTEGER,              -- NULL: not known
  checksum_sum INTEGER,           -- of its checksums, modulo 2^64, in two's
                                  -- complement; of those with 32 digits the
                                  -- first 16, as a number
  checksum INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
INSERT INTO tally(name)
  VALUES('owner'), ('run'), ('request'), ('sweep'), ('gate'), ('shape'),
  ('config'), ('outcome'), ('host'), ('gpu'), ('lease'), ('interval'),
  ('event'), ('build'), ('result'), ('tool'), ('contest'), ('contestant'),
  ('contest_shape'), ('step'), ('held'), ('ready'), ('acquisition');
UPDATE tally SET checksum=checksum_short(name, row_count, checksum_sum);

-- ---- what was asked for ----

-- One row for each run of the coordinator; 'epoch' is the UTC ns of its start.
CREATE TABLE run(
  epoch INTEGER PRIMARY KEY,
  ended_utc INTEGER,              -- NULL while running, and after kill -9
  pid INTEGER NOT NULL,
  machine TEXT NOT NULL,          -- host name of the coordinator's machine
  version TEXT NOT NULL,
  command TEXT NOT NULL,          -- sweep, resume, confirm, bench, ...
  ending TEXT
    CHECK(ending='done' OR ending='partial' OR ending='interrupted'
    OR ending='budget' OR ending='error'),
  checksum INTEGER NOT NULL DEFAULT 0
) STRICT;

-- What the newest sweep or resume was asked for, before a host has answered.
-- The row of 'sweep' follows when a device has told its facts.
CREATE TABLE request(
  id INTEGER PRIMARY KEY CHECK(id = 1),
  folder TEXT NOT NULL,           -- these columns are those of 'sweep'
  file TEXT NOT NULL,
  hosts_file TEXT NOT NULL,
  device TEXT NOT NULL
    CHECK(device='cuda' OR device='cpu' OR device='replay'),
  arch TEXT NOT NULL,             -- for the gates of the cpu device
  settings TEXT NOT NULL,
  checksum INTEGER NOT NULL DEFAULT 0
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
  device TEXT NOT NULL
    CHECK(device='cuda' OR device='cpu' OR device='replay'),
  arch TEXT NOT NULL,             -- architecture of gates and builds: sm_89
  facts TEXT NOT NULL,            -- JSON object: the device facts used
  configurations INTEGER NOT NULL,-- before gates
  passed INTEGER NOT NULL,        -- after the reject gates
  settings TEXT NOT NULL,         -- JSON object: the resolved settings
  created_utc INTEGER NOT NULL,
  checksum INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE gate(
  sweep INTEGER NOT NULL REFERENCES sweep(id),
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL CHECK(kind IN ('reject', 'warn')),
  rule TEXT NOT NULL,
  why TEXT NOT NULL,
  rejected_first INTEGER,         -- points no earlier gate had rejected
  rejected_alone INTEGER,         -- points, if it were the only gate
  checksum INTEGER NOT NULL DEFAULT 0,
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
  checksum INTEGER NOT NULL DEFAULT 0,
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
  source_key TEXT NOT NULL,       -- sources and parameters of its build
  checksum INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- The terminal state of a configuration, one row for each shape.  The row is
-- replaced when the sources change.
CREATE TABLE outcome(
  config TEXT NOT NULL REFERENCES config(key),
  shape TEXT NOT NULL,
  source_key TEXT NOT NULL,
  measure_key TEXT NOT NULL,      -- shape, arguments, reference, tolerance
  outcome TEXT NOT NULL
    CHECK(outcome='correct' OR outcome='constraints' OR outcome='compile'
    OR outcome='runtime' OR outcome='correctness' OR outcome='timeout'
    OR outcome='lost' OR outcome='crash'),
  reason TEXT NOT NULL,           -- one line of evidence
  nonce TEXT,                     -- the result or build that settled it
  median_s REAL,                  -- of its samples, for queries; or NULL
  attempts INTEGER NOT NULL,      -- leases of its MEASURE and BUILD that ended
  settled_utc INTEGER NOT NULL,
  checksum INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY(config, shape, source_key, measure_key)
) STRICT, WITHOUT ROWID;

-- ---- hosts and what they did ----

CREATE TABLE host(
  name TEXT PRIMARY KEY,          -- as in hosts.txt, or 'localhost'
  position INTEGER NOT NULL,
  rate_usd_per_h REAL,            -- NULL: unpriced
  machine TEXT NOT NULL DEFAULT '', -- its host name
  boot_id TEXT NOT NULL DEFAULT '',
  worker_version TEXT NOT NULL DEFAULT '',
  toolkit TEXT NOT NULL DEFAULT '',
  cpus INTEGER NOT NULL DEFAULT 0,
  slots INTEGER NOT NULL DEFAULT 0,
  checksum INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE gpu(
  uuid TEXT PRIMARY KEY,
  host TEXT NOT NULL,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  driver TEXT NOT NULL,
  facts TEXT NOT NULL,            -- JSON object
  checksum INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- Every piece of work that was given to a host.
CREATE TABLE lease(
  epoch INTEGER NOT NULL REFERENCES run(epoch),
  id INTEGER NOT NULL,            -- unique in its epoch
  config TEXT NOT NULL,           -- its key; of the reference, the source key
  shape TEXT NOT NULL,            -- '' for a build
  purpose TEXT NOT NULL
    CHECK(purpose='kernel' OR purpose='reference' OR purpose='screen'
    OR purpose='canary' OR purpose='confirm' OR purpose='external'
    OR purpose='profile'),
  stage TEXT NOT NULL
    CHECK(stage='build' OR stage='measure' OR stage='tool'),
  round INTEGER NOT NULL,
  attempt INTEGER NOT NULL,       -- 1 is the first
  host TEXT NOT NULL REFERENCES host(name),
  gpu TEXT NOT NULL,              -- '' for a build
  leased_utc INTEGER NOT NULL,
  ended_utc INTEGER,
  ending TEXT
    CHECK(ending='done' OR ending='lost' OR ending='refused'
    OR ending='cancelled'),
  checksum INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY(epoch, id)
) STRICT, WITHOUT ROWID;

-- What each host was held for.  While a run holds a host, its intervals have no
-- gap and no overlap.  Each commit extends the newest interval of a host.
-- 'host' refers to no row: a host is held before it has one.
CREATE TABLE interval(
  host TEXT NOT NULL,
  epoch INTEGER NOT NULL REFERENCES run(epoch),
  start_ns INTEGER NOT NULL,      -- CLOCK_BOOTTIME of the coordinator
  end_ns INTEGER NOT NULL,
  start_utc INTEGER NOT NULL,
  category TEXT NOT NULL
    CHECK(category='acquiring' OR category='setup' OR category='uploading'
    OR category='building' OR category='measuring' OR category='idle'
    OR category='failed' OR category='lost'),
  lease INTEGER,                  -- the lease that used the time
  checksum INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY(host, epoch, start_ns),
  FOREIGN KEY(epoch, lease) REFERENCES lease(epoch, id)
) STRICT, WITHOUT ROWID;

-- Machines that start= acquired for this sweep (docs/fleet.md).  A row is
-- committed before start= runs, and 'released' only after stop= has succeeded,
-- so that each row of another state is a machine that may cost money.
CREATE TABLE acquisition(
  id TEXT PRIMARY KEY,            -- drawn; start= and stop= get it
  host TEXT NOT NULL,             -- its name in the hosts file
  state TEXT NOT NULL
    CHECK(state='starting' OR state='acquired' OR state='stopping'
    OR state='released'),
  start_command TEXT NOT NULL,
  stop_command TEXT NOT NULL,
  folder TEXT NOT NULL,           -- where both run
  machine TEXT NOT NULL,          -- what start= printed as id=; '' nothing
  address TEXT NOT NULL,          -- where the host is reached; '' not yet
  pid INTEGER NOT NULL,           -- of start=, which may outlive fa-coord
  pid_ticks INTEGER NOT NULL,     -- its start, in clock ticks after the boot
  boot_id TEXT NOT NULL,          -- the boot to which the pid belongs
  rate_usd_per_h REAL,
  started_utc INTEGER NOT NULL,
  acquired_utc INTEGER,           -- start= has succeeded
  released_utc INTEGER,           -- stop= has succeeded
  stop_tries INTEGER NOT NULL,    -- how often stop= was run
  why TEXT NOT NULL,              -- what failed last; '' nothing
  checksum INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE event(
  id INTEGER PRIMARY KEY,
  at_utc INTEGER NOT NULL,
  level TEXT NOT NULL CHECK(level='E' OR level='W' OR level='I'),
  name TEXT NOT NULL,             -- LEASE-LOST, HOST-READY, ...
  text TEXT NOT NULL,
  checksum INTEGER NOT NULL DEFAULT 0
) STRICT;

-- ---- what workers reported ----
--
-- Rows of 'result' and 'build' are stored in the order in which they came.
-- WITHOUT ROWID keeps at most a quarter of a page of a row in place.  These
-- rows are longer, and their keys are random, so each row would take a page of
-- its own and part of another.

CREATE TABLE build(
  nonce TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL REFERENCES run(epoch),
  config TEXT NOT NULL,
  purpose TEXT NOT NULL CHECK(purpose IN ('kernel', 'reference')),
  attempt INTEGER NOT NULL,
  source_key TEXT NOT NULL,
  build_key TEXT NOT NULL,        -- source key, compiler version, arch
  host TEXT NOT NULL,
  outcome TEXT NOT NULL
    CHECK(outcome='built' OR outcome='compile' OR outcome='timeout'
    OR outcome='crash'),
  detail TEXT NOT NULL,
  artifact TEXT NOT NULL,         -- BLAKE2b of the cubin, '' if none
  artifact_bytes INTEGER NOT NULL,
  seconds REAL NOT NULL,
  cached INTEGER NOT NULL,
  registers INTEGER,              -- a thread
  spill_bytes INTEGER,            -- a thread
  static_smem INTEGER,            -- bytes a block
  log TEXT NOT NULL,
  counted INTEGER NOT NULL        -- 0: late or repeated, kept as evidence
    CHECK(counted IN (0, 1)),
  received_utc INTEGER NOT NULL,
  checksum TEXT NOT NULL          -- BLAKE2b of the columns before it
) STRICT;
CREATE INDEX build_config ON build(config);

-- 'epoch' refers to no row, because looking up the run would make storing a
-- result 4 % slower.
CREATE TABLE result(
  nonce TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL,
  config TEXT NOT NULL,
  shape TEXT NOT NULL,
  purpose TEXT NOT NULL
    CHECK(purpose='screen' OR purpose='canary' OR purpose='confirm'),
  round INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  source_key TEXT NOT NULL,
  measure_key TEXT NOT NULL,
  host TEXT NOT NULL,
  gpu TEXT NOT NULL,
  artifact TEXT NOT NULL,         -- what was measured
  outcome TEXT NOT NULL
    CHECK(outcome='correct' OR outcome='constraints' OR outcome='compile'
    OR outcome='runtime' OR outcome='correctness' OR outcome='timeout'
    OR outcome='lost' OR outcome='crash'),
  detail TEXT NOT NULL,
  argument TEXT NOT NULL,         -- the output that was wrong, '' otherwise
  relative_l2 REAL,
  max_error REAL,
  max_at INTEGER,                 -- the element of max_error
  samples TEXT NOT NULL,          -- JSON array, seconds, in order
  sampling TEXT NOT NULL          -- why so many; '' for an imported result
    CHECK(sampling='none' OR sampling='fixed' OR sampling='settled'
    OR sampling='loser' OR sampling='unstable' OR sampling=''),
  rejected TEXT NOT NULL,         -- JSON array: samples that do not count
  l2 TEXT NOT NULL,               -- none warm flush, or 'rotate COPIES'
  checked INTEGER,                -- launches whose outputs were found right;
                                  -- samples are some of them
  varied INTEGER                  -- 1: the same inputs gave outputs that
    CHECK(varied IN (0, 1)),      -- differ in bits
  blocked INTEGER NOT NULL,       -- 1: each batch was queued before it began
  clock_mhz TEXT NOT NULL,        -- JSON arrays: before, during and after the
                                  -- samples
  temp_c TEXT NOT NULL,
  power_w TEXT NOT NULL,
  throttle TEXT NOT NULL,
  held_s REAL NOT NULL,           -- time on the GPU: load, check, time, check
  seconds REAL NOT NULL,          -- at the worker, with waiting
  registers INTEGER,
  spill_bytes INTEGER,
  static_smem INTEGER,
  counted INTEGER NOT NULL        -- 0: late or repeated, kept as evidence
    CHECK(counted IN (0, 1)),
  received_utc INTEGER NOT NULL,
  checksum TEXT NOT NULL          -- BLAKE2b of the columns before it
) STRICT;
-- At most one counted result for each identity (invariant I2).
CREATE UNIQUE INDEX result_identity ON result
  (config, shape, purpose, round, source_key, measure_key) WHERE counted = 1;

-- One run of a profiler or a sanitizer (docs/profile.md, docs/sanitize.md), or
-- of an external baseline in a block of a confirmation
-- (docs/external-baseline.md).
CREATE TABLE tool(
  nonce TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL REFERENCES run(epoch),
  purpose TEXT NOT NULL CHECK(purpose IN ('external', 'profile')),
  name TEXT NOT NULL,             -- its name in the sweep file; the profiler
  config TEXT NOT NULL,           -- profiled one; otherwise the baseline
  shape TEXT NOT NULL,
  round INTEGER NOT NULL,         -- external: pass * 10000 + block
  attempt INTEGER NOT NULL,
  key TEXT NOT NULL,              -- what was run: the command, its files
  host TEXT NOT NULL,
  gpu TEXT NOT NULL,
  outcome TEXT NOT NULL           -- garbage: its output is no result
    CHECK(outcome='ran' OR outcome='missing' OR outcome='failed'
    OR outcome='timeout' OR outcome='crash' OR outcome='garbage'),
  detail TEXT NOT NULL,           -- the reason, one line
  status INTEGER,                 -- exit status; NULL: it did not exit
  output TEXT NOT NULL,           -- its stdout
  log TEXT NOT NULL,              -- its stderr, head and tail
  seconds REAL NOT NULL,
  counted INTEGER NOT NULL        -- 0: late, repeated or lost, evidence only
    CHECK(counted IN (0, 1)),
  received_utc INTEGER NOT NULL,
  checksum TEXT NOT NULL          -- BLAKE2b of the columns before it
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX tool_identity ON tool
  (purpose, config, shape, round, gpu, key) WHERE counted = 1;

-- ---- what the passes keep ----

-- A confirmation or a bench.  Its measurements are rows of 'result' with the
-- purpose 'confirm' and the round pass * 10000 + block.
CREATE TABLE contest(
  pass INTEGER PRIMARY KEY,       -- 1, 2, ... of this database
  sweep INTEGER NOT NULL REFERENCES sweep(id),
  kind TEXT NOT NULL CHECK(kind IN ('confirm', 'bench')),
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
  ending TEXT CHECK(ending IN ('done', 'failed')),
  against TEXT,                   -- whom the rule is against: the name of an
                                  -- external baseline; NULL: the baseline
  look_blocks INTEGER NOT NULL DEFAULT 0,   -- blocks from look to look, at
                                  -- least; 0: only at the end, after 'blocks'
  most_blocks INTEGER NOT NULL DEFAULT 0,   -- the cap; 0 without looks
  look_over_all INTEGER NOT NULL DEFAULT 0, -- 1: a look asks about the
                                  -- geometric mean of all shapes, too
  checksum INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE contestant(
  pass INTEGER NOT NULL REFERENCES contest(pass),
  position INTEGER NOT NULL,      -- 0 is the baseline
  config TEXT NOT NULL REFERENCES config(key),
  source_key TEXT NOT NULL,       -- sources and parameters of its build
  role TEXT NOT NULL              -- rejected: did not run
    CHECK(role='baseline' OR role='finalist' OR role='rejected'),
  reason TEXT NOT NULL,           -- why it was rejected or left out, or ''
  proof_launches INTEGER,         -- of the fuzz proof, found right; NULL: not
                                  -- known, or no proof
  proof_varied INTEGER            -- as result.varied
    CHECK(proof_varied IN (0, 1)),
  checksum INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY(pass, position)
) STRICT, WITHOUT ROWID;

-- The shapes of the comparison, the headline first.
CREATE TABLE contest_shape(
  pass INTEGER NOT NULL REFERENCES contest(pass),
  position INTEGER NOT NULL,
  shape TEXT NOT NULL,
  measure_key TEXT NOT NULL,      -- shape, arguments, reference, tolerance
  checksum INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY(pass, position)
) STRICT, WITHOUT ROWID;

-- What a search asked for and what it was told, in order.  The same steps bring
-- a strategy to the same state, so a search that was interrupted continues with
-- the points that it would have asked for.
CREATE TABLE step(
  sweep INTEGER NOT NULL REFERENCES sweep(id),
  position INTEGER NOT NULL,      -- 0, 1, ...
  kind TEXT NOT NULL
    CHECK(kind='asked' OR kind='timed' OR kind='failed' OR kind='lost'),
  config TEXT NOT NULL REFERENCES config(key),
  point INTEGER NOT NULL,         -- number in this sweep, before pruning
  rung INTEGER NOT NULL,          -- of successive halving; otherwise 0
  time_s REAL,                    -- what the search was told; or NULL
  checksum INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY(sweep, position)
) STRICT, WITHOUT ROWID;

-- ---- prices and circumstances, as they were at the time ----

-- For how long a host was held, at what rate, and for what.  While a run holds a
-- host, the row grows with each commit.  Another rate begins another row, so the
-- past keeps its price.  The finalists are proved in a database of their own;
-- their rows are copied from there, so 'host' and 'epoch' refer to no row.
CREATE TABLE held(
  host TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  start_ns INTEGER NOT NULL,      -- CLOCK_BOOTTIME of the coordinator
  end_ns INTEGER NOT NULL,
  start_utc INTEGER NOT NULL,
  rate_usd_per_h REAL,            -- NULL: unpriced
  phase TEXT NOT NULL
    CHECK(phase='search' OR phase='proof' OR phase='confirm'
    OR phase='bench' OR phase='profile' OR phase='builds'),
  checksum INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY(host, epoch, start_ns)
) STRICT, WITHOUT ROWID;

-- What a host (gpu '') and each of its GPUs were when the host became ready.  A
-- result was measured under the newest row that is not younger than its lease.
CREATE TABLE ready(
  host TEXT NOT NULL,
  gpu TEXT NOT NULL,              -- its UUID
  at_utc INTEGER NOT NULL,
  driver TEXT NOT NULL,           -- of the GPU
  boot_id TEXT NOT NULL,
  worker_version TEXT NOT NULL,
  toolkit TEXT NOT NULL,
  checksum INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY(host, gpu, at_utc)
) STRICT, WITHOUT ROWID;

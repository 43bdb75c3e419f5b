-- Format 7 refuses words outside the vocabulary of a column, and rows that
-- refer to missing rows.  Columns and rows are those of format 6.
--
-- Rows of an older program are kept as they are, whatever they hold.  The lists
-- are those of the time when the format was made.  test_schema.c compares them
-- with the enums.  A new word needs a new format.
--
-- Words are compared one by one.  With more than two words, IN makes a table
-- for each row, which made storing a result 20 % slower.
--
-- Columns that repeat the words of a worker (config, shape and gpu of 'build',
-- 'result' and 'tool') refer to no row, because evidence of unknown work is
-- kept, too.

CREATE TABLE run_7(
  epoch INTEGER PRIMARY KEY, ended_utc INTEGER, pid INTEGER NOT NULL,
  machine TEXT NOT NULL, version TEXT NOT NULL, command TEXT NOT NULL,
  ending TEXT
    CHECK(ending='done' OR ending='partial' OR ending='interrupted'
    OR ending='budget' OR ending='error')
) STRICT;
INSERT INTO run_7 SELECT * FROM run;
DROP TABLE run;
ALTER TABLE run_7 RENAME TO run;

CREATE TABLE sweep_7(
  id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
  folder TEXT NOT NULL, file TEXT NOT NULL, hosts_file TEXT NOT NULL,
  spec TEXT NOT NULL,
  device TEXT NOT NULL
    CHECK(device='cuda' OR device='cpu' OR device='replay'),
  arch TEXT NOT NULL, facts TEXT NOT NULL, configurations INTEGER NOT NULL,
  passed INTEGER NOT NULL, settings TEXT NOT NULL,
  created_utc INTEGER NOT NULL
) STRICT;
INSERT INTO sweep_7 SELECT * FROM sweep;
DROP TABLE sweep;
ALTER TABLE sweep_7 RENAME TO sweep;

CREATE TABLE request_7(
  id INTEGER PRIMARY KEY CHECK(id = 1),
  folder TEXT NOT NULL, file TEXT NOT NULL, hosts_file TEXT NOT NULL,
  device TEXT NOT NULL
    CHECK(device='cuda' OR device='cpu' OR device='replay'),
  arch TEXT NOT NULL, settings TEXT NOT NULL
) STRICT;
INSERT INTO request_7 SELECT * FROM request;
DROP TABLE request;
ALTER TABLE request_7 RENAME TO request;

CREATE TABLE gate_7(
  sweep INTEGER NOT NULL REFERENCES sweep(id), position INTEGER NOT NULL,
  name TEXT NOT NULL, kind TEXT NOT NULL CHECK(kind IN ('reject', 'warn')),
  rule TEXT NOT NULL, why TEXT NOT NULL, rejected_first INTEGER,
  rejected_alone INTEGER,
  PRIMARY KEY(sweep, position)
) STRICT, WITHOUT ROWID;
INSERT INTO gate_7 SELECT * FROM gate;
DROP TABLE gate;
ALTER TABLE gate_7 RENAME TO gate;

CREATE TABLE outcome_7(
  config TEXT NOT NULL REFERENCES config(key), shape TEXT NOT NULL,
  source_key TEXT NOT NULL, measure_key TEXT NOT NULL,
  outcome TEXT NOT NULL
    CHECK(outcome='correct' OR outcome='constraints' OR outcome='compile'
    OR outcome='runtime' OR outcome='correctness' OR outcome='timeout'
    OR outcome='lost' OR outcome='crash'),
  reason TEXT NOT NULL, nonce TEXT, median_s REAL, attempts INTEGER NOT NULL,
  settled_utc INTEGER NOT NULL,
  PRIMARY KEY(config, shape, source_key, measure_key)
) STRICT, WITHOUT ROWID;
INSERT INTO outcome_7 SELECT * FROM outcome;
DROP TABLE outcome;
ALTER TABLE outcome_7 RENAME TO outcome;

CREATE TABLE lease_7(
  epoch INTEGER NOT NULL REFERENCES run(epoch), id INTEGER NOT NULL,
  config TEXT NOT NULL, shape TEXT NOT NULL,
  purpose TEXT NOT NULL
    CHECK(purpose='kernel' OR purpose='reference' OR purpose='screen'
    OR purpose='canary' OR purpose='confirm' OR purpose='external'
    OR purpose='profile'),
  stage TEXT NOT NULL
    CHECK(stage='build' OR stage='measure' OR stage='tool'),
  round INTEGER NOT NULL, attempt INTEGER NOT NULL,
  host TEXT NOT NULL REFERENCES host(name), gpu TEXT NOT NULL,
  leased_utc INTEGER NOT NULL, ended_utc INTEGER,
  ending TEXT
    CHECK(ending='done' OR ending='lost' OR ending='refused'
    OR ending='cancelled'),
  PRIMARY KEY(epoch, id)
) STRICT, WITHOUT ROWID;
INSERT INTO lease_7 SELECT * FROM lease;
DROP TABLE lease;
ALTER TABLE lease_7 RENAME TO lease;

CREATE TABLE build_7(
  nonce TEXT PRIMARY KEY, epoch INTEGER NOT NULL REFERENCES run(epoch),
  config TEXT NOT NULL,
  purpose TEXT NOT NULL CHECK(purpose IN ('kernel', 'reference')),
  attempt INTEGER NOT NULL, source_key TEXT NOT NULL, build_key TEXT NOT NULL,
  host TEXT NOT NULL,
  outcome TEXT NOT NULL
    CHECK(outcome='built' OR outcome='compile' OR outcome='timeout'
    OR outcome='crash'),
  detail TEXT NOT NULL, artifact TEXT NOT NULL,
  artifact_bytes INTEGER NOT NULL, seconds REAL NOT NULL,
  cached INTEGER NOT NULL, registers INTEGER NOT NULL,
  spill_bytes INTEGER NOT NULL, static_smem INTEGER NOT NULL,
  log TEXT NOT NULL, counted INTEGER NOT NULL CHECK(counted IN (0, 1)),
  received_utc INTEGER NOT NULL, checksum TEXT NOT NULL
) STRICT;
INSERT INTO build_7 SELECT * FROM build;
DROP TABLE build;
ALTER TABLE build_7 RENAME TO build;
CREATE INDEX build_config ON build(config);

-- 'epoch' refers to no row, because looking up the run would make storing a
-- result 4 % slower.  An imported result was not sampled here: sampling is ''.
CREATE TABLE result_7(
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
  max_error REAL, max_at INTEGER NOT NULL, samples TEXT NOT NULL,
  sampling TEXT NOT NULL
    CHECK(sampling='none' OR sampling='fixed' OR sampling='settled'
    OR sampling='loser' OR sampling='unstable' OR sampling=''),
  rejected TEXT NOT NULL, l2 TEXT NOT NULL, blocked INTEGER NOT NULL,
  clock_mhz TEXT NOT NULL, temp_c TEXT NOT NULL, power_w TEXT NOT NULL,
  throttle TEXT NOT NULL, held_s REAL NOT NULL, seconds REAL NOT NULL,
  registers INTEGER NOT NULL, spill_bytes INTEGER NOT NULL,
  static_smem INTEGER NOT NULL,
  counted INTEGER NOT NULL CHECK(counted IN (0, 1)),
  received_utc INTEGER NOT NULL, checksum TEXT NOT NULL
) STRICT;
INSERT INTO result_7 SELECT * FROM result;
DROP TABLE result;
ALTER TABLE result_7 RENAME TO result;
CREATE UNIQUE INDEX result_identity ON result
  (config, shape, purpose, round, source_key, measure_key) WHERE counted = 1;

CREATE TABLE tool_7(
  nonce TEXT PRIMARY KEY, epoch INTEGER NOT NULL REFERENCES run(epoch),
  purpose TEXT NOT NULL CHECK(purpose IN ('external', 'profile')),
  name TEXT NOT NULL, config TEXT NOT NULL, shape TEXT NOT NULL,
  round INTEGER NOT NULL, attempt INTEGER NOT NULL, key TEXT NOT NULL,
  host TEXT NOT NULL, gpu TEXT NOT NULL,
  outcome TEXT NOT NULL
    CHECK(outcome='ran' OR outcome='missing' OR outcome='failed'
    OR outcome='timeout' OR outcome='crash' OR outcome='garbage'),
  detail TEXT NOT NULL, status INTEGER NOT NULL, output TEXT NOT NULL,
  log TEXT NOT NULL, seconds REAL NOT NULL,
  counted INTEGER NOT NULL CHECK(counted IN (0, 1)),
  received_utc INTEGER NOT NULL, checksum TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO tool_7 SELECT * FROM tool;
DROP TABLE tool;
ALTER TABLE tool_7 RENAME TO tool;
CREATE UNIQUE INDEX tool_identity ON tool
  (purpose, config, shape, round, gpu, key) WHERE counted = 1;

-- 'host' refers to no row: a host is held before it has one.
CREATE TABLE interval_7(
  host TEXT NOT NULL, epoch INTEGER NOT NULL REFERENCES run(epoch),
  start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL,
  start_utc INTEGER NOT NULL,
  category TEXT NOT NULL
    CHECK(category='acquiring' OR category='setup' OR category='uploading'
    OR category='building' OR category='measuring' OR category='idle'
    OR category='failed' OR category='lost'),
  lease INTEGER,
  PRIMARY KEY(host, epoch, start_ns),
  FOREIGN KEY(epoch, lease) REFERENCES lease(epoch, id)
) STRICT, WITHOUT ROWID;
INSERT INTO interval_7 SELECT * FROM interval;
DROP TABLE interval;
ALTER TABLE interval_7 RENAME TO interval;

CREATE TABLE event_7(
  id INTEGER PRIMARY KEY, at_utc INTEGER NOT NULL,
  level TEXT NOT NULL
    CHECK(level='E' OR level='W' OR level='I'),
  name TEXT NOT NULL, text TEXT NOT NULL
) STRICT;
INSERT INTO event_7 SELECT * FROM event;
DROP TABLE event;
ALTER TABLE event_7 RENAME TO event;

CREATE TABLE contest_7(
  pass INTEGER PRIMARY KEY, sweep INTEGER NOT NULL REFERENCES sweep(id),
  kind TEXT NOT NULL CHECK(kind IN ('confirm', 'bench')),
  seed INTEGER NOT NULL, blocks INTEGER NOT NULL, samples INTEGER NOT NULL,
  alpha REAL NOT NULL, floor REAL NOT NULL, target REAL NOT NULL,
  possible INTEGER NOT NULL, cut REAL, proof_hours REAL NOT NULL,
  proof_usd REAL, started_utc INTEGER NOT NULL, ended_utc INTEGER,
  ending TEXT CHECK(ending IN ('done', 'failed'))
) STRICT;
INSERT INTO contest_7 SELECT * FROM contest;
DROP TABLE contest;
ALTER TABLE contest_7 RENAME TO contest;

CREATE TABLE contestant_7(
  pass INTEGER NOT NULL REFERENCES contest(pass), position INTEGER NOT NULL,
  config TEXT NOT NULL REFERENCES config(key), source_key TEXT NOT NULL,
  role TEXT NOT NULL
    CHECK(role='baseline' OR role='finalist' OR role='rejected'),
  reason TEXT NOT NULL,
  PRIMARY KEY(pass, position)
) STRICT, WITHOUT ROWID;
INSERT INTO contestant_7 SELECT * FROM contestant;
DROP TABLE contestant;
ALTER TABLE contestant_7 RENAME TO contestant;

CREATE TABLE step_7(
  sweep INTEGER NOT NULL REFERENCES sweep(id), position INTEGER NOT NULL,
  kind TEXT NOT NULL
    CHECK(kind='asked' OR kind='timed' OR kind='failed' OR kind='lost'),
  config TEXT NOT NULL REFERENCES config(key), point INTEGER NOT NULL,
  rung INTEGER NOT NULL, time_s REAL,
  PRIMARY KEY(sweep, position)
) STRICT, WITHOUT ROWID;
INSERT INTO step_7 SELECT * FROM step;
DROP TABLE step;
ALTER TABLE step_7 RENAME TO step;

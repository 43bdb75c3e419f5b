-- Format 12: the ledger has prices and circumstances as they were at the time,
-- and the machines that were acquired.

-- For how long each host was held, at what rate, and for what.  Until now a host
-- had one rate, so all that an older database says of it has its newest one.
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
INSERT INTO held SELECT i.host, i.epoch, min(i.start_ns), max(i.end_ns),
  min(i.start_utc), h.rate_usd_per_h,
  CASE r.command WHEN 'fuzz' THEN 'proof' WHEN 'confirm' THEN 'confirm'
    WHEN 'bench' THEN 'bench' WHEN 'profile' THEN 'profile'
    WHEN 'space --build' THEN 'builds' WHEN 'check' THEN 'builds'
    ELSE 'search' END, 0
  FROM interval i LEFT JOIN host h ON h.name=i.host
  LEFT JOIN run r ON r.epoch=i.epoch GROUP BY i.host, i.epoch;
UPDATE held SET checksum=checksum_short(
  host, epoch, start_ns, end_ns, start_utc, rate_usd_per_h, phase);

-- What a host (gpu '') and each of its GPUs were when the host became ready.  Of
-- older results only the newest circumstances are known (host, gpu), and whether
-- they were theirs is not.
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
INSERT INTO tally(name) VALUES('held'), ('ready');
UPDATE tally SET checksum=checksum_short(name, row_count, checksum_sum)
  WHERE name IN ('held', 'ready');

-- Machines that start= acquired (docs/fleet.md).
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
INSERT INTO tally(name) VALUES('acquisition');
UPDATE tally SET checksum=checksum_short(name, row_count, checksum_sum)
  WHERE name='acquisition';

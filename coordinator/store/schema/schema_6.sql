-- Format 6: what is known before a host has answered.

-- What the newest sweep or resume was asked for.  The row of 'sweep' follows
-- when a device has told its facts.
CREATE TABLE request(
  id INTEGER PRIMARY KEY CHECK(id = 1),
  folder TEXT NOT NULL,           -- these columns are those of 'sweep'
  file TEXT NOT NULL,
  hosts_file TEXT NOT NULL,
  device TEXT NOT NULL,
  arch TEXT NOT NULL,             -- for the gates of the cpu device
  settings TEXT NOT NULL
) STRICT;

-- The name of this database to the workers that serve it: 32 random hex digits.
CREATE TABLE owner(id TEXT NOT NULL) STRICT;
INSERT INTO owner VALUES(lower(hex(randomblob(16))));

-- Format 6: what is known before the first host is.

-- What the newest sweep or resume was told; its row of 'sweep' is made when a
-- device has said what it is.
CREATE TABLE request(
  id INTEGER PRIMARY KEY CHECK(id = 1),
  folder TEXT NOT NULL,           -- the columns of 'sweep' of these names
  file TEXT NOT NULL,
  hosts_file TEXT NOT NULL,
  device TEXT NOT NULL,
  arch TEXT NOT NULL,             -- that the cpu device takes its gates from
  settings TEXT NOT NULL
) STRICT;

-- Who this database is to the workers that serve it: 32 random hex digits.
CREATE TABLE owner(id TEXT NOT NULL) STRICT;
INSERT INTO owner VALUES(lower(hex(randomblob(16))));

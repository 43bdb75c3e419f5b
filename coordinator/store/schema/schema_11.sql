-- Format 11: how many rows each table has, and the sum of their checksums, which
-- are counted when the steps are done.  What was deleted before is not found.
CREATE TABLE tally(
  name TEXT PRIMARY KEY,
  row_count INTEGER,
  checksum_sum INTEGER,
  checksum INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
INSERT INTO tally(name)
  VALUES('owner'), ('run'), ('request'), ('sweep'), ('gate'), ('shape'),
  ('config'), ('outcome'), ('host'), ('gpu'), ('lease'), ('interval'),
  ('event'), ('build'), ('result'), ('tool'), ('contest'), ('contestant'),
  ('contest_shape'), ('step');
UPDATE tally SET checksum=checksum_short(name, row_count, checksum_sum);

-- Format 10: the launches of the proof belong to those on which a verdict rests;
-- NULL for what is not known.
ALTER TABLE contestant ADD COLUMN proof_launches INTEGER;
ALTER TABLE contestant ADD COLUMN proof_varied INTEGER
  CHECK(proof_varied IN (0, 1));

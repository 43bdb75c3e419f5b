-- Format 8: what a confirmation's rule is against.

-- The name of an external baseline (docs/external-baseline.md); NULL: the
-- baseline.
ALTER TABLE contest ADD COLUMN against TEXT;

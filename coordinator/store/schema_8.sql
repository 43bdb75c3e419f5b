-- Format 8: when a confirmation is looked at (coordinator/confirm/sequential.h).

-- Blocks from look to look, at least; 0: only at the end, after 'blocks'.
ALTER TABLE contest ADD COLUMN look_blocks INTEGER NOT NULL DEFAULT 0;
-- The cap; 0 without looks.
ALTER TABLE contest ADD COLUMN most_blocks INTEGER NOT NULL DEFAULT 0;

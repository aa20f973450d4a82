-- What the file of a window covers, and what stands beside it (docs/domain.md 33.7).
ALTER TABLE tasks
  -- Up to where events count in the file, and in the one before it; fixed by the first attempt: null before, and for files without events.
  ADD COLUMN counted jsonb,
  ADD COLUMN manifest_url text,
  ADD COLUMN late_count bigint,
  ADD COLUMN file_sha256 text;

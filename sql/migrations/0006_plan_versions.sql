-- A plan has a version, which If-Match names (docs/http.md 1.4): 1 at first, one more with every change. Programs of the
-- previous release create plans without naming it.
ALTER TABLE plans ADD COLUMN version integer NOT NULL DEFAULT 1 CHECK (version >= 1);

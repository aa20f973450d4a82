-- Every record that can be changed has a version, which If-Match names (docs/http.md 1.4): 1 at first, one more with every
-- change. Programs of the previous release insert without it, and their changes leave it as it is.
ALTER TABLE plans ADD COLUMN version integer NOT NULL DEFAULT 1 CHECK (version >= 1);
ALTER TABLE features ADD COLUMN version integer NOT NULL DEFAULT 1 CHECK (version >= 1);
ALTER TABLE entitlements ADD COLUMN version integer NOT NULL DEFAULT 1 CHECK (version >= 1);
ALTER TABLE customers ADD COLUMN version integer NOT NULL DEFAULT 1 CHECK (version >= 1);

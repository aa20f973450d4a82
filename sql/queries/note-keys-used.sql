-- Writes when API keys were used last; answers no rows. The keys may belong to any tenant, so a function that runs as the owner writes them (0020).
-- Parameters: ids, at most 1000; used_at, a time for each.
SELECT note_keys_used(:ids, :used_at::timestamptz[])

-- Lets one process at a time make the first tenant; freed at the end of the transaction. Grain: one row.
SELECT pg_advisory_xact_lock(hashtextextended('minutebook:bootstrap', 0))

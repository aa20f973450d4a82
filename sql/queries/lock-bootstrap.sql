-- Lets one process at a time create the first tenant; released at the end of the transaction. Grain: one row.
SELECT pg_advisory_xact_lock(hashtextextended('minutebook:bootstrap', 0))

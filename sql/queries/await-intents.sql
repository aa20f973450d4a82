-- Waits while a verb holds new intents, which it does for ten seconds at most, until the batches under way are finished. One row. The lock is
-- freed with the end of the statement: whoever holds intents also locks the table of the checkpoints before it relies on them.
SELECT pg_advisory_xact_lock_shared(hashtextextended('minutebook:hold-intents', 0))::text AS held

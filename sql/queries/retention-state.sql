-- What decides whether months of append may expire: the server's clock, and whether a meter is still being applied to stored events.
SELECT now() AS now, is_backfill_pending() AS is_backfill_pending

-- What decides whether months of append may expire: the server's clock, whether a meter is still being applied to stored events,
-- and whether an erasure was cut short that has counted events and perhaps not removed them.
SELECT now() AS now, is_backfill_pending() AS is_backfill_pending,
  EXISTS (SELECT FROM list_environments_with_erasures('infinity')) AS is_erasing

-- Since when any process of ingest may hold events of the log, null when that is not known (0082); and how far each partition of the log is
-- finished. Params: :log.
SELECT find_held_since(:log) AS held_since,
  (SELECT coalesce(json_agg(json_build_object('partition', partition, 'next_offset', next_offset)), '[]')
   FROM aggregator_checkpoints WHERE log = :log) AS finished

-- The table is ordered by place in the log, and is asked for one id and for a time of receipt. Granules that hold neither are
-- passed over; of an id a granule is read in vain once in a hundred times.
ALTER TABLE event_repeats_v1
  ADD INDEX IF NOT EXISTS event_id_bloom event_id TYPE bloom_filter(0.01) GRANULARITY 1,
  ADD INDEX IF NOT EXISTS received_range received_at TYPE minmax GRANULARITY 1;

ALTER TABLE event_repeats_v1 MATERIALIZE INDEX event_id_bloom;

ALTER TABLE event_repeats_v1 MATERIALIZE INDEX received_range;

-- Purpose: what whole UTC minutes hold of meters that share a stretch of time, like read-usage-minutes.sql, without the second
--          aggregation: sums of the stretch as one slot, which is called 0 (of a customer's month a fifth of the time), or counts of
--          slots of one length, a place for each of them, which need no list of slots (of a month of minutes two thirds of the time).
-- Grain:   one row per generation of a meter and what the query tells apart.
-- Params:  as in read-usage-minutes.sql; $slots$ is [0] or empty, $events$ the events of the stretch or of all places.
-- Index:   usage_minute_v1 by tenant, environment, customer, meter, generation, minute: no join, no function around a key.
SELECT
  $branch$ AS branch,
  toString(u.generation) AS query,
  $source$ AS source_text,
  $group$ AS group_text,
  CAST([], 'Array(String)') AS texts,
  CAST([], 'Array(Nullable(String))') AS value_texts,
  $slots$ AS slots,
  $events$ AS events,
  $unreadable$ AS unreadable,
  $valueSum$ AS sum_texts,
  $valueTimeSum$ AS time_sum_texts,
  $valueMax$ AS max_texts,
  $latest$ AS latest_texts,
  CAST([], 'Array(UInt64)') AS unique_texts
FROM usage_minute_v1 AS u
WHERE $environment$ AND $customers$ AND $meters$ AND $minutes$
GROUP BY u.generation$keys$

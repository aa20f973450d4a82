-- Purpose: what whole UTC minutes hold of meters that share a stretch of time as one slot, which is called 0; like
--          read-usage-minutes.sql, without the second aggregation: of a customer's month that is a fifth of the time.
-- Grain:   one row per generation of a meter and what the question tells apart, with one place in its columns.
-- Params:  as in read-usage-minutes.sql.
-- Index:   usage_minute_v1 by tenant, environment, customer, meter, generation, minute: no join, no function around a key.
SELECT
  $arm$ AS arm,
  toString(u.generation) AS question,
  $source$ AS source_text,
  $group$ AS group_text,
  CAST([], 'Array(String)') AS texts,
  CAST([], 'Array(Nullable(String))') AS value_texts,
  [toInt64(0)] AS slots,
  [sum(u.event_count)] AS events,
  $unreadable$ AS unreadable,
  $valueSum$ AS sum_texts,
  $valueTimeSum$ AS time_sum_texts,
  $valueMax$ AS max_texts,
  $latest$ AS latest_texts,
  CAST([], 'Array(UInt64)') AS unique_texts
FROM usage_minute_v1 AS u
WHERE $environment$ AND $customers$ AND $meters$ AND $minutes$
GROUP BY u.generation$keys$

-- Purpose: what whole UTC minutes hold of meters that share a stretch of time; one arm of the one statement that answers all
--          questions of a wish (billing-api/store/usage-statement.ts).
-- Grain:   one row per meter, slot and what the question tells apart.
-- Params:  bound where `$…$` stands: $environment$ and $customers$ and $meters$ choose rows by the primary key; $minutes$ is the
--          stretch; $slot$ its slots in milliseconds; $source$, $group$ and the sums are the column or, where nobody asked, an
--          empty constant, so that a count reads one column.
-- Index:   usage_minute_v1 by tenant, environment, customer, meter, generation, minute: no join, no function around a key.
SELECT
  $arm$ AS arm,
  toString(u.meter_id) AS question,
  $slot$ AS slot_ms,
  $source$ AS source_text,
  $group$ AS group_text,
  CAST([], 'Array(String)') AS texts,
  CAST([], 'Array(Nullable(String))') AS value_texts,
  sum(u.event_count) AS events,
  $unreadable$ AS unreadable,
  $valueSum$ AS sum_text,
  $valueTimeSum$ AS time_sum_text,
  $valueMax$ AS max_text,
  $latest$ AS latest_texts,
  toUInt64(0) AS unique_texts
FROM usage_minute_v1 AS u
WHERE $environment$ AND $customers$ AND $meters$ AND $minutes$
GROUP BY question, slot_ms, source_text, group_text

-- Purpose: number of different texts of a COUNT_UNIQUE meter, over minutes and events together; one arm of the statement of
--          billing-api/store/usage-statement.ts. Sets stay in the server: only their sizes are answered.
-- Grain:   one row per slot and what the question tells apart.
-- Params:  $hashes$: rows (slot_ms, source_text, group_text, texts, hash), hash as in usage_minute_v1.uniques; $slot$: the slot
--          in which a text counts, its own or, for a meter that never resets, the first it was seen in.
SELECT
  $arm$ AS arm,
  '' AS question,
  slot AS slot_ms,
  source_text,
  group_text,
  texts,
  CAST([], 'Array(Nullable(String))') AS value_texts,
  toUInt64(0) AS events,
  toUInt64(0) AS unreadable,
  '' AS sum_text,
  '' AS time_sum_text,
  '' AS max_text,
  ('', '', '', '') AS latest_texts,
  count() AS unique_texts
FROM
(
  SELECT DISTINCT $slot$ AS slot, source_text, group_text, texts, hash
  FROM ($hashes$)
  $firstOnly$
)
GROUP BY slot, source_text, group_text, texts

-- Purpose: what events hold where minutes cannot tell: edges inside a minute, narrowed queries, properties to split by; one branch
--          of the statement of billing-api/usage/store/usage-statement.ts.
-- Grain:   one row per query of the branch, slot, what the query tells apart, and combination of the texts that decide a value. The value of the
--          texts is computed by contract/event-value.ts: there is no second definition of it here.
-- Params:  bound where `$…$` stands: $environment$, $eventName$, $customers$ and $bounds$ choose rows by the primary key;
--          $intervals$ are the stretches, exact to the millisecond; $filters$ the conditions on properties; $ends$ where an
--          archived meter stopped counting; $valueTexts$ the texts
--          in the order of the value's properties, NULL for one that is missing.
-- Index:   events_v1 by tenant, environment, event_name, customer, timestamp.
-- No WITH: of the first branch, the server would see it in all branches of the statement.
-- The caller asks only for meters whose minutes cover all stored events, so events and minutes tell the same.
SELECT
  $branch$ AS branch,
  $query$ AS query,
  $source$ AS source_text,
  $group$ AS group_text,
  $texts$ AS texts,
  $valueTexts$ AS value_texts,
  [$slot$ AS slot_ms] AS slots,
  [count()] AS events,
  CAST([], 'Array(UInt64)') AS unreadable,
  CAST([], 'Array(String)') AS sum_texts,
  $timeSum$ AS time_sum_texts,
  CAST([], 'Array(String)') AS max_texts,
  $latest$ AS latest_texts,
  CAST([], 'Array(UInt64)') AS unique_texts
FROM events_v1 AS e
WHERE $environment$ AND $eventName$ AND $customers$ AND $bounds$ AND $intervals$ AND $filters$ AND $ends$
GROUP BY query, slot_ms, source_text, group_text, texts, value_texts

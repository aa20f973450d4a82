-- Purpose: what whole UTC minutes hold of meters that share a stretch of time cut into slots; one branch of the one statement that
--          answers all queries of a batch (billing-api/usage/store/usage-statement.ts).
-- Grain:   one row per generation of a meter and what the query tells apart, with a place in its columns for every slot: a month
--          of minutes as 43,200 rows took more than twice as long to make, and ten times as long to read.
-- Params:  bound where `$…$` stands: $environment$ and $customers$ and $meters$ choose rows by the primary key; $minutes$ is the
--          stretch; $slot$ its slots in milliseconds; $keys$ source and group where somebody asked, and $source$ and $group$ these or
--          empty constants (constants as keys would cost a third more); $sums$ what is added up beside the events, and
--          $unreadable$ to $latest$ its column or, where nobody asked, an empty list, so that a count reads one column; $rowsMax$
--          so many slots that no answer holds them.
-- Index:   usage_minute_v1 by tenant, environment, customer, meter, generation, minute: no join, no function around a key.
SELECT
  $branch$ AS branch,
  toString(u.generation) AS query,
  $source$ AS source_text,
  $group$ AS group_text,
  CAST([], 'Array(String)') AS texts,
  CAST([], 'Array(Nullable(String))') AS value_texts,
  groupArray(u.slot_ms) AS slots,
  groupArray(u.slot_events) AS events,
  $unreadable$ AS unreadable,
  $valueSum$ AS sum_texts,
  $valueTimeSum$ AS time_sum_texts,
  $valueMax$ AS max_texts,
  $latest$ AS latest_texts,
  CAST([], 'Array(UInt64)') AS unique_texts
FROM
(
  SELECT u.generation AS generation$keys$, $slot$ AS slot_ms, sum(u.event_count) AS slot_events$sums$
  FROM usage_minute_v1 AS u
  WHERE $environment$ AND $customers$ AND $meters$ AND $minutes$
  GROUP BY generation, slot_ms$keys$
  ORDER BY slot_ms
  LIMIT $rowsMax$
) AS u
GROUP BY u.generation$keys$

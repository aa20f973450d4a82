-- Purpose: number of different texts of a COUNT_UNIQUE meter, over minutes and events together; one branch of the statement of
--          billing-api/usage/store/usage-statement.ts. Sets stay in the server: only their sizes are answered.
-- Grain:   one row per customer of the branch, where it is about several, and what the query splits by, with a place in its columns
--          for every slot.
-- Params:  $columns$: the columns of the answer (answer-columns.ts); $hashes$: rows (slot_ms, source_text, group_text, texts, hash),
--          hash as in usage_minute_v1.uniques; $slot$: the slot in which a text counts, its own or, for a meter that never resets,
--          the first in which it was seen; $keys$: what tells rows apart.
SELECT
  $columns$
FROM
(
  SELECT slot AS slot_ms, $keys$, count() AS slot_texts
  FROM
  (
    SELECT DISTINCT $slot$ AS slot, $keys$, hash
    FROM ($hashes$)
    $firstOnly$
  )
  GROUP BY slot, $keys$
  LIMIT $rowsMax$
)
GROUP BY $keys$

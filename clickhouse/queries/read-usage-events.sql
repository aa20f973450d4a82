-- Purpose: what events hold where minutes cannot tell: edges inside a minute, narrowed queries, properties to split by; one branch
--          of the statement of billing-api/usage/store/usage-statement.ts.
-- Grain:   one row per narrowing of the branch, customer key where it is about several customers, slot, what the query splits by,
--          and combination of the texts that decide a value. The
--          value of the texts is computed by contract/event-value.ts, which is the only definition of it.
-- Params:  bound where `$…$` stands: $environment$, $eventName$, $customers$ and $bounds$ choose rows by the primary key;
--          $intervals$ are the stretches, exact to the millisecond; $filters$ the conditions on properties; $ends$ where an
--          archived meter stopped counting; $columns$ the columns of the answer (answer-columns.ts), among them the slot and the
--          texts in the order of the value's properties, NULL for one that is missing; $keys$ those of them that tell rows apart.
--          $events$ are the events as they count (corrected-events.sql).
-- Index:   events_v1 by tenant, environment, event_name, customer, timestamp.
-- No WITH: the server would apply the WITH of the first branch to all branches of the statement.
-- The caller reads events only of meters whose minutes cover all stored events, so events and minutes agree.
SELECT
  $columns$
FROM $events$ AS e
WHERE $environment$ AND $eventName$ AND $customers$ AND $bounds$ AND $intervals$ AND $filters$ AND $ends$
GROUP BY $keys$

-- Purpose: what whole UTC minutes hold of meters that share a stretch of time, like read-usage-minutes.sql, without the second
--          aggregation: values of the stretch as one slot, which is called 0 (a customer's month takes a fifth of the time), or counts
--          of slots of one length, with a place for each slot and no list of slots (a month of minutes takes two thirds of the time).
-- Grain:   one row per generation of a meter (one for all of a branch about one meter), per customer key where the branch is
--          about several customers, and what the query splits by; none
--          without minutes (empty_result_for_aggregation_by_empty_set).
-- Params:  as in read-usage-minutes.sql; $columns$ merges the values itself.
-- Index:   usage_minute_v1 by tenant, environment, meter, customer, generation, minute: no join, no function around a key.
SELECT
  $columns$
FROM usage_minute_v1 AS u
WHERE $environment$ AND $customers$ AND $meters$ AND $minutes$
$groupBy$

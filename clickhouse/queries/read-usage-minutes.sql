-- Purpose: event counts in whole UTC minutes, for up to a few hundred readings (invoice lines, usage questions); one arm of the
--          one round trip that answers all of them, the other is read-usage-events.sql.
-- Grain:   one row per usage row; the caller sums per reading, slot, source and texts, since rows are deltas.
-- Params:  tenantId, environmentId; customerKeys, or none for all keys but excludedKeys (JSON list);
--          minutes: JSON [{reading, meter_id, generation, from_s, to_s}]; fromMs, toMs: bounds of all of them, for the primary
--          key; slotMs: width of a time slot, 0 for none.
-- Index:   usage_minute_v1 by tenant, environment, customer, meter, generation, minute.
WITH JSONExtract({minutes:String}, 'Array(Tuple(reading UInt32, meter_id String, generation UInt64, from_s Int64, to_s Int64))')
  AS minute_readings
SELECT
  wanted.reading AS reading,
  if({slotMs:Int64} = 0, 0, intDiv(toInt64(u.minute) * 1000, greatest({slotMs:Int64}, 1)) * {slotMs:Int64}) AS slot_ms,
  toString(u.source) AS source,
  CAST([], 'Array(String)') AS texts,
  u.event_count AS counted
FROM usage_minute_v1 AS u
INNER JOIN
(
  SELECT tupleElement(r, 'reading') AS reading, tupleElement(r, 'meter_id') AS meter_id,
    tupleElement(r, 'generation') AS generation, tupleElement(r, 'from_s') AS from_s, tupleElement(r, 'to_s') AS to_s
  FROM (SELECT arrayJoin(minute_readings) AS r)
) AS wanted ON u.meter_id = wanted.meter_id AND u.generation = wanted.generation
WHERE u.tenant_id = {tenantId:String} AND u.environment_id = {environmentId:String}
  AND (empty({customerKeys:Array(String)}) OR u.customer_key IN {customerKeys:Array(String)})
  AND NOT has(JSONExtract({excludedKeys:String}, 'Array(String)'), u.customer_key)
  AND u.meter_id IN (SELECT DISTINCT tupleElement(arrayJoin(minute_readings), 'meter_id'))
  AND u.minute >= toDateTime64(intDiv({fromMs:Int64}, 1000), 0, 'UTC')
  AND u.minute <= toDateTime64(intDiv({toMs:Int64}, 1000), 0, 'UTC')
  AND toInt64(u.minute) >= wanted.from_s AND toInt64(u.minute) < wanted.to_s

-- Purpose: events that the minute rows of meters hold, to be compared with the events themselves (recount-usage-events.sql).
-- Grain:   one row per meter, hour of the events and one of 64 groups of customers, so that errors cannot cancel out easily.
-- Params:  meters: JSON [{number, tenant_id, environment_id, meter_id, generations}]; fromMs, toMs: whole minutes; groupsFrom, groupsTo:
--          which of the groups of customers, the last one left out.
-- Index:   usage_minute_v1 by tenant, environment and meter; by minute within each customer and generation.
SELECT wanted.number AS number, intDiv(toInt64(u.minute), 3600) * 3600000 AS hour_ms,
  cityHash64(u.customer_key) % 64 AS customers, sum(u.event_count) AS counted
FROM usage_minute_v1 AS u
INNER JOIN
(
  SELECT tupleElement(m, 'number') AS number, tupleElement(m, 'tenant_id') AS tenant_id,
    tupleElement(m, 'environment_id') AS environment_id, tupleElement(m, 'meter_id') AS meter_id,
    arrayJoin(tupleElement(m, 'generations')) AS generation
  FROM (SELECT arrayJoin(JSONExtract({meters:String}, 'Array(Tuple(number UInt32, tenant_id String, environment_id String, meter_id String, generations Array(UInt64)))')) AS m)
) AS wanted ON u.tenant_id = wanted.tenant_id AND u.environment_id = wanted.environment_id
  AND u.meter_id = wanted.meter_id AND u.generation = wanted.generation
WHERE u.minute >= toDateTime64(intDiv({fromMs:Int64}, 1000), 0, 'UTC')
  AND u.minute < toDateTime64(intDiv({toMs:Int64}, 1000), 0, 'UTC')
  -- Says again what the join says: it leaves out other meters by the index, before the join, which takes ten times as long a row.
  AND (u.tenant_id, u.environment_id, u.meter_id) IN
    (SELECT tupleElement(n, 'tenant_id'), tupleElement(n, 'environment_id'), tupleElement(n, 'meter_id')
     FROM (SELECT arrayJoin(JSONExtract({meters:String}, 'Array(Tuple(tenant_id String, environment_id String, meter_id String))')) AS n))
  AND customers >= {groupsFrom:UInt32} AND customers < {groupsTo:UInt32}
GROUP BY number, hour_ms, customers

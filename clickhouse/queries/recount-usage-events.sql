-- Purpose: events that meters count, recounted from the stored events: those of finished batches, and all that are there.
-- Grain:   as of recount-usage-minutes.sql.
-- Params:  meters: JSON [{number, tenant_id, environment_id, event_name, filters, is_ended, ends}]; fromMs, toMs: whole
--          minutes; logs, logNumbers, partitionsMax, nextOffsets: as of count-stored-copies.sql.
-- Index:   events_v1 by tenant, environment, event_name; by hour within each customer.
SELECT wanted.number AS number, intDiv(toUnixTimestamp64Milli(e.timestamp), 3600000) * 3600000 AS hour_ms,
  cityHash64(e.customer_key) % 64 AS customers, countIf(e.log_partition < {partitionsMax:UInt32} AND e.log_offset < JSONExtract({nextOffsets:String}, 'Array(UInt64)')[
    {partitionsMax:UInt32} * transform(e.log_id, {logs:Array(String)}, {logNumbers:Array(UInt32)}, 0) + e.log_partition + 1]) AS finished, count() AS stored
FROM events_v1 AS e
INNER JOIN
(
  SELECT tupleElement(m, 'number') AS number, tupleElement(m, 'tenant_id') AS tenant_id,
    tupleElement(m, 'environment_id') AS environment_id, tupleElement(m, 'event_name') AS event_name,
    tupleElement(m, 'filters') AS filters, tupleElement(m, 'is_ended') AS is_ended, tupleElement(m, 'ends') AS ends
  FROM (SELECT arrayJoin(JSONExtract({meters:String}, 'Array(Tuple(number UInt32, tenant_id String, environment_id String, event_name String, filters Array(Tuple(key String, values Array(String))), is_ended Bool, ends Array(Tuple(log String, partition UInt32, counted_below UInt64))))')) AS m)
) AS wanted ON e.tenant_id = wanted.tenant_id AND e.environment_id = wanted.environment_id
  AND e.event_name = wanted.event_name
WHERE e.timestamp >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
  AND e.timestamp < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')
  AND arrayAll(f -> mapContains(e.properties, tupleElement(f, 'key'))
    AND has(tupleElement(f, 'values'), e.properties[tupleElement(f, 'key')]), wanted.filters)
  AND (NOT wanted.is_ended OR arrayExists(x -> tupleElement(x, 'log') = e.log_id
    AND tupleElement(x, 'partition') = e.log_partition AND e.log_offset < tupleElement(x, 'counted_below'), wanted.ends))
GROUP BY number, hour_ms, customers

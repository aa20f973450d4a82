-- Purpose: events that meters count, recounted from the stored events: those of finished batches, and all that are there.
-- Grain:   as of recount-usage-minutes.sql.
-- Params:  meters: JSON [{number, tenant_id, environment_id, event_name, filters, is_ended, ends}], where a filter names the place of its
--          key and its texts; keys, texts: as narrowKeys and narrowTexts of count-finished-events.sql, of these meters; fromMs, toMs: whole minutes;
--          groupsFrom, groupsTo: which of the groups of customers, the last one left out; logs, logNumbers, partitionsMax, nextOffsets: as
--          of count-stored-copies.sql.
-- Index:   events_v1 by tenant, environment, event_name; by hour within each customer.
-- Meters are compared with the combinations of values that occur, once for all hours and customers, and not with each event. A
-- meter that ended counts the events of a partition below an offset: an event is among them when the greatest of these offsets
-- that it has reached is less.
SELECT number, tupleElement(cell, 1) AS hour_ms, tupleElement(cell, 2) AS customers, sum(tupleElement(cell, 3)) AS finished,
  sum(tupleElement(cell, 4)) AS stored
FROM
(
  SELECT number, arrayJoin(cells) AS cell
  FROM
  (
    SELECT wanted.number AS number, seen.cells AS cells
    FROM
    (
      SELECT tenant_id, environment_id, event_name, log_id, log_partition, reached_offset, texts,
        groupArray((hour_ms, customers, finished, stored)) AS cells
      FROM
      (
        SELECT e.tenant_id AS tenant_id, e.environment_id AS environment_id, e.event_name AS event_name,
          intDiv(toUnixTimestamp64Milli(e.timestamp), 3600000) * 3600000 AS hour_ms, cityHash64(e.customer_key) % 64 AS customers,
          e.log_id AS log_id, e.log_partition AS log_partition, reached.counted_below AS reached_offset,
          arrayMap((k, place) -> if(mapContains(e.properties, k)
            AND has(JSONExtract({texts:String}, 'Array(String)'), concat(toString(place), '+', e.properties[k])),
            concat(toString(place), '+', e.properties[k]), ''), JSONExtract({keys:String}, 'Array(String)'),
            arrayEnumerate(JSONExtract({keys:String}, 'Array(String)'))) AS texts,
          countIf(e.log_partition < {partitionsMax:UInt32} AND e.log_offset < JSONExtract({nextOffsets:String}, 'Array(UInt64)')[
            {partitionsMax:UInt32} * transform(e.log_id, {logs:Array(String)}, {logNumbers:Array(UInt32)}, 0) + e.log_partition + 1]) AS finished,
          count() AS stored
        FROM events_v1 AS e
        ASOF LEFT JOIN
        (
          SELECT DISTINCT tupleElement(x, 'log') AS log_id, tupleElement(x, 'partition') AS log_partition,
            tupleElement(x, 'counted_below') AS counted_below
          FROM (SELECT arrayJoin(arrayFlatten(JSONExtract({ends:String}, 'Array(Array(Tuple(log String, partition UInt32, counted_below UInt64)))'))) AS x)
        ) AS reached ON e.log_id = reached.log_id AND e.log_partition = reached.log_partition AND e.log_offset >= reached.counted_below
        WHERE (e.tenant_id, e.environment_id, e.event_name) IN
          (SELECT tupleElement(n, 'tenant_id'), tupleElement(n, 'environment_id'), tupleElement(n, 'event_name')
           FROM (SELECT arrayJoin(JSONExtract({meters:String}, 'Array(Tuple(tenant_id String, environment_id String, event_name String))')) AS n))
          AND e.timestamp >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
          AND e.timestamp < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')
          AND cityHash64(e.customer_key) % 64 >= {groupsFrom:UInt32} AND cityHash64(e.customer_key) % 64 < {groupsTo:UInt32}
        GROUP BY tenant_id, environment_id, event_name, hour_ms, customers, log_id, log_partition, reached_offset, texts
      )
      GROUP BY tenant_id, environment_id, event_name, log_id, log_partition, reached_offset, texts
    ) AS seen
    INNER JOIN
    (
      SELECT tupleElement(m, 'number') AS number, tupleElement(m, 'tenant_id') AS tenant_id,
        tupleElement(m, 'environment_id') AS environment_id, tupleElement(m, 'event_name') AS event_name,
        tupleElement(m, 'filters') AS filters, tupleElement(m, 'is_ended') AS is_ended, tupleElement(m, 'ends') AS ends
      FROM (SELECT arrayJoin(JSONExtract({meters:String}, 'Array(Tuple(number UInt32, tenant_id String, environment_id String, event_name String, filters Array(Tuple(place UInt32, texts Array(String))), is_ended Bool, ends Array(Tuple(log String, partition UInt32, counted_below UInt64))))')) AS m)
    ) AS wanted ON seen.tenant_id = wanted.tenant_id AND seen.environment_id = wanted.environment_id
      AND seen.event_name = wanted.event_name
    WHERE arrayAll(f -> has(tupleElement(f, 'texts'), seen.texts[tupleElement(f, 'place')]), wanted.filters)
      AND (NOT wanted.is_ended OR arrayExists(x -> tupleElement(x, 'log') = seen.log_id
        AND tupleElement(x, 'partition') = seen.log_partition AND seen.reached_offset < tupleElement(x, 'counted_below'), wanted.ends))
  )
)
GROUP BY number, hour_ms, customers

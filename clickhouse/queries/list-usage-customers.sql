-- Purpose: which customer keys have usage of a meter, to tell those of known customers from the others.
-- Grain:   one row per customer key.
-- Params:  tenantId, environmentId, meterId, eventName, fromMs, toMs; rowsMax: one more than the caller accepts.
-- Events are asked too: an edge inside a minute may have keys whose minutes are not written yet.
SELECT DISTINCT customer_key FROM
(
  SELECT customer_key FROM usage_minute_v1
  WHERE tenant_id = {tenantId:String} AND environment_id = {environmentId:String} AND meter_id = {meterId:String}
    AND minute >= toDateTime64(intDiv({fromMs:Int64}, 1000) - 60, 0, 'UTC')
    AND minute <= toDateTime64(intDiv({toMs:Int64}, 1000), 0, 'UTC')
  UNION DISTINCT
  SELECT customer_key FROM events_v1
  WHERE tenant_id = {tenantId:String} AND environment_id = {environmentId:String} AND event_name = {eventName:String}
    AND timestamp >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
    AND timestamp < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')
)
LIMIT {rowsMax:UInt64}

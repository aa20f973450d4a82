-- Purpose: how many events there are in each slot of time, by the events' own timestamps.
-- Grain:   one row per slot with events.
-- Params:  tenantId, environmentId; fromMs, toMs: half-open range; slotMs: width of a slot.
-- Index:   events_v1 by tenant, environment; by hour within each event name and customer.
SELECT intDiv(toUnixTimestamp64Milli(timestamp), {slotMs:Int64}) * {slotMs:Int64} AS slot_ms, count() AS event_count
FROM events_v1
WHERE tenant_id = {tenantId:String} AND environment_id = {environmentId:String}
  AND timestamp >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
  AND timestamp < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')
GROUP BY slot_ms

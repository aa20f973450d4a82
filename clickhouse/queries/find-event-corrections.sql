-- Purpose: how one event counts under each correction that names it.
-- Grain:   one row per attempt to prepare a correction, oldest first; PostgreSQL knows which of them count.
-- Params:  tenantId, environmentId, eventName; logId, logPartition, logOffset, recordIndex: where the event stands.
-- Index:   event_corrections_v1 by tenant, environment, event_name.
SELECT toString(correction) AS number, toString(effect) AS effect, new_customer_key AS customer_key, new_customer_id AS customer_id,
  toString(toUnixTimestamp64Milli(new_timestamp)) AS timestamp_ms, CAST(new_properties, 'Map(String, String)') AS properties
FROM event_corrections_v1
WHERE tenant_id = {tenantId:String} AND environment_id = {environmentId:String} AND event_name = {eventName:String}
  AND log_id = {logId:String} AND log_partition = {logPartition:UInt32} AND log_offset = {logOffset:UInt64}
  AND record_index = {recordIndex:UInt32}
ORDER BY correction

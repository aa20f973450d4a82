-- Purpose: customers in whose minutes corrections of events change what counts, to find the final invoices that they touch.
-- Grain:   one row per customer key, with the earliest of these minutes; one page of them.
-- Params:  tenantId, environmentId; numbers: those of the corrections; afterKey: the last row of the page before; rowsMax: rows of a page.
-- Index:   corrected_minutes_v1 by tenant, environment, event name, customer.
SELECT m.customer_key AS customer_key, toString(min(toInt64(m.minute)) * 1000) AS first_ms
FROM corrected_minutes_v1 AS m
WHERE m.tenant_id = {tenantId:String} AND m.environment_id = {environmentId:String}
  AND has({numbers:Array(UInt64)}, m.correction) AND m.customer_key > {afterKey:String}
GROUP BY m.customer_key
ORDER BY m.customer_key
LIMIT {rowsMax:UInt64}

-- Purpose: from where on batches say how many events they decoded; batches below were written by an older release.
-- Grain:   one row per partition of a log (`<log>:<partition>`).
-- Index:   usage_minute_v1: customer '' stands first in every environment.
SELECT source, min(toUInt64(splitByChar(':', group_key)[1])) AS first_offset
FROM usage_minute_v1
WHERE customer_key = '' AND meter_id = '#accepted' AND generation = 0
GROUP BY source

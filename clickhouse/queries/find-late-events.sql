-- Purpose: whether minutes that were read may hold events that do not count yet; one branch of the statement of
--          billing-api/usage/store/late-events-statement.ts.
-- Grain:   one row when there is such an event, or one for each customer key where the branch is about several customers: where the
--          first of them lies in time.
-- Params:  bound where `$…$` stands: $environment$, $eventName$, $customers$ and $bounds$ choose rows by the primary key; $least$ is
--          the least offset at which a partition has such events, and $ends$ what counts. The filters of the meter are left out: to
--          read a minute more costs less than the column of properties.
-- Index:   events_v1 by tenant, environment, event_name, customer, timestamp; log_offset_range leaves the newest events.
SELECT $query$ AS query, min($eventMs$) AS first_ms, $customer$ AS customer_text
FROM events_v1 AS e
WHERE $environment$ AND $eventName$ AND $customers$ AND $bounds$ AND e.log_offset >= $least$ AND NOT $ends$
$groupBy$
HAVING count() > 0

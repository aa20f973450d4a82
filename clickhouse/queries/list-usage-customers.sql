-- Purpose: customer keys that have usage of what the queries read, to tell those of known customers from the others.
-- Grain:   one row per customer key.
-- Params:  bound where `$…$` stands: $branches$ are the minutes and events that the queries themselves would read, so that an edge
--          inside a minute, whose minute is not written yet, is no exception; $keysMax$ one more than the caller accepts.
-- Index:   as in read-usage-minutes.sql and read-usage-events.sql, without the customer.
SELECT DISTINCT customer_key
FROM ($branches$)
LIMIT $keysMax$

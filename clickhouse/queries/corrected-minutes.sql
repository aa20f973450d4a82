-- Purpose: the minutes of customers in which some corrections change what counts. What these hold is read from the events.
-- Grain:   one row per customer key, minute and correction.
-- Params:  bound where `$…$` stands: $scope$ the environment and the event name; $corrections$ the numbers of the corrections.
-- Index:   corrected_minutes_v1 by tenant, environment, event_name.
(SELECT customer_key, minute FROM corrected_minutes_v1 WHERE $scope$ AND correction IN ($corrections$))

-- Lets a month of append expire (0028); false while a meter is being applied to stored events. Params: :month (its first day),
-- :environments (those with events in it, as JSON).
SELECT expire_month(:month::date, :environments::jsonb) AS is_expired

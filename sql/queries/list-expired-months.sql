-- Months of append that expired :delay_seconds ago or earlier, and whether their events were removed since, in order.
SELECT append_month::text AS month, removed_at IS NOT NULL AS is_removed
FROM expired_months
WHERE expired_at <= now() - make_interval(secs => :delay_seconds)
ORDER BY append_month

-- Holds a job for some seconds more; false when another claim has taken it over. Params: :id, :claim, :lease_seconds.
SELECT renew_job(:id, :claim, :lease_seconds) AS is_held

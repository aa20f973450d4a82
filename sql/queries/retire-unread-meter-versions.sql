-- Retires meter versions that no reader has seen for :hours. Returns how many, at most :versions_max per call.
SELECT retire_unread_meter_versions(make_interval(hours => :hours), :versions_max) AS retired

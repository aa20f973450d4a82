-- How many standbys the server has when it waits for none of them; 0 when it waits for one, or has none. Who may not see what the
-- standbys are at sees their number all the same.
SELECT CASE WHEN current_setting('synchronous_standby_names') = '' THEN count(*) ELSE 0 END AS found FROM pg_stat_replication

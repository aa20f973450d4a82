-- Lets nobody begin a change of meters for so long, and tells the newest version of the catalog. One row. It waits for a change that
-- is under way. Params: :seconds (an activation waits for two at most, 0031).
UPDATE catalog_counter SET held_until = clock_timestamp() + make_interval(secs => :seconds) RETURNING version

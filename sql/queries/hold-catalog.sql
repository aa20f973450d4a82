-- Keeps meters from being changed for :seconds, and tells the newest version of their list. One row. A change that is being made
-- is waited for. Params: :seconds. Whoever wants to change a meter meanwhile waits, for two seconds at most (migration 0031).
UPDATE catalog_counter SET held_until = clock_timestamp() + make_interval(secs => :seconds) RETURNING version

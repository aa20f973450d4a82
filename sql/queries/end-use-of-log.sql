-- Nothing is in use any more when it was this log: the next program takes its own into use. Params: :log.
DELETE FROM log_in_use WHERE log = :log

-- Takes an aggregator process off the list, so that the others need not wait for its silence.
-- Params: :log, :member_id.
DELETE FROM aggregator_members WHERE log = :log AND member_id = :member_id

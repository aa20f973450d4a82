-- How often a look for late usage is still to measure the final invoices that a correction touches (docs/domain.md 13.8). Each move of a
-- correction asks for two, so that an invoice which was finalized while one was under way is met by the next. Safe while programs of the
-- previous release run: what they apply or revert is met by nobody, as before.
ALTER TABLE event_correction_stretches ADD COLUMN looks_left smallint NOT NULL DEFAULT 0 CHECK (looks_left >= 0);
UPDATE event_correction_stretches SET looks_left = 2 WHERE is_applied;
CREATE INDEX event_correction_stretches_to_look_at ON event_correction_stretches (tenant_id, environment_id) WHERE looks_left > 0;

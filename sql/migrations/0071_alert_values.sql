-- The figure that an alert was compared with last: another one is told (docs/domain.md 31). Null until the next evaluation.
ALTER TABLE alert_states ADD COLUMN value numeric;

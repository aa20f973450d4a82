-- Whether the caller gave the start of a price: then a subscription that begins earlier has no charge of it before (docs/domain.md 9.4).
-- Programs of the previous release may run: a price that they make counts as one whose start was not given.
ALTER TABLE prices ADD COLUMN is_start_given boolean NOT NULL DEFAULT false;
-- A start that was not given is the instant at which the price was made.
UPDATE prices SET is_start_given = true WHERE start_date <> created_at;

-- The most that a line of a usage price is charged for a billing period (docs/domain.md 8.8). Programs of the previous release may run: they charge without it.
ALTER TABLE prices ADD COLUMN max_amount numeric CHECK (max_amount > 0);

-- A line item that goes on as another one (docs/domain.md 27).
ALTER TABLE subscription_line_items
  -- The one that it continues.
  ADD COLUMN predecessor_id text,
  -- What it costs in advance in the period in which it begins was charged or credited by the change that made it.
  ADD COLUMN is_settled boolean NOT NULL DEFAULT false;

-- What was given to a wallet for a line item that costs less from an instant on.
CREATE TABLE line_credits (
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  wallet_transaction_id text NOT NULL,
  subscription_line_item_id text NOT NULL,
  period_start timestamptz(3) NOT NULL,
  period_end timestamptz(3) NOT NULL CHECK (period_end > period_start),
  amount numeric NOT NULL CHECK (amount > 0),
  PRIMARY KEY (tenant_id, environment_id, wallet_transaction_id, subscription_line_item_id),
  FOREIGN KEY (tenant_id, environment_id) REFERENCES environments (tenant_id, id)
);
CREATE INDEX line_credits_of ON line_credits (tenant_id, environment_id, subscription_line_item_id);
SELECT isolate_environment('line_credits');

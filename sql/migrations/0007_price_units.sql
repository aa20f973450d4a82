-- Currencies of tenants of their own, such as tokens (docs/domain.md 8.6). Prices refer to them by price_unit_id.
CREATE TABLE price_units (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  name text NOT NULL,
  code text NOT NULL CHECK (code ~ '^[A-Za-z0-9_]{1,20}$'),
  symbol text NOT NULL,
  base_currency text NOT NULL CHECK (base_currency ~ '^[a-z]{3}$'),
  -- Money per unit.
  conversion_rate numeric NOT NULL CHECK (conversion_rate > 0),
  version integer NOT NULL DEFAULT 1 CHECK (version >= 1),
  metadata jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text,
  updated_at timestamptz(3) NOT NULL,
  updated_by text,
  UNIQUE (tenant_id, environment_id, id),
  FOREIGN KEY (tenant_id, environment_id) REFERENCES environments (tenant_id, id)
);
CREATE UNIQUE INDEX price_units_code ON price_units (tenant_id, environment_id, code) WHERE status = 'published';
CREATE INDEX price_units_newest ON price_units (tenant_id, environment_id, created_at, id);
SELECT isolate_environment('price_units');

-- NOT VALID: the previous release could make no price unit, so whatever its prices name is none.
ALTER TABLE prices ADD CONSTRAINT prices_price_unit FOREIGN KEY (tenant_id, environment_id, price_unit_id)
  REFERENCES price_units (tenant_id, environment_id, id) NOT VALID;
CREATE INDEX prices_of_price_unit ON prices (tenant_id, environment_id, price_unit_id)
  WHERE price_unit_id IS NOT NULL;

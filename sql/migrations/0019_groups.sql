-- Groups, and versions of records that can be changed now (docs/http.md 1.4). Programs of the previous release may run: what they make has version 1 and no group.
ALTER TABLE customers ADD COLUMN version integer NOT NULL DEFAULT 1 CHECK (version >= 1);
ALTER TABLE features ADD COLUMN version integer NOT NULL DEFAULT 1 CHECK (version >= 1);

-- Groups of features and of prices. They are named by group_id, which no release before could set.
CREATE TABLE groups (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  name text NOT NULL,
  entity_type text NOT NULL CHECK (entity_type IN ('price', 'feature')),
  lookup_key text NOT NULL,
  metadata jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text,
  updated_at timestamptz(3) NOT NULL,
  updated_by text,
  UNIQUE (tenant_id, environment_id, id),
  FOREIGN KEY (tenant_id, environment_id) REFERENCES environments (tenant_id, id)
);
CREATE UNIQUE INDEX groups_lookup_key ON groups (tenant_id, environment_id, lookup_key) WHERE status = 'published';
CREATE INDEX groups_newest ON groups (tenant_id, environment_id, created_at, id);
SELECT isolate_environment('groups');
-- NOT VALID: no row names a group yet.
ALTER TABLE features ADD CONSTRAINT features_group FOREIGN KEY (tenant_id, environment_id, group_id)
  REFERENCES groups (tenant_id, environment_id, id) NOT VALID;
ALTER TABLE prices ADD CONSTRAINT prices_group FOREIGN KEY (tenant_id, environment_id, group_id)
  REFERENCES groups (tenant_id, environment_id, id) NOT VALID;
CREATE INDEX features_of_group ON features (tenant_id, environment_id, group_id) WHERE group_id IS NOT NULL;
CREATE INDEX prices_of_group ON prices (tenant_id, environment_id, group_id) WHERE group_id IS NOT NULL;

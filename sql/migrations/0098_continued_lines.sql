-- Line items by the one that they continue: what a lineage was charged and credited is looked up from its first one on
-- (docs/domain.md 19.2, 21.3).
CREATE INDEX subscription_line_items_of_predecessor ON subscription_line_items (tenant_id, environment_id, predecessor_id)
  WHERE predecessor_id IS NOT NULL;

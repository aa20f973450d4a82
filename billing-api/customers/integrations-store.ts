import { sql } from 'slonik';
import { isOfEnvironment } from '../records/conditions.js';
import type { Transaction } from '../records/unit.js';
import {
  INTEGRATIONS,
  type IntegrationRow,
  type IntegrationsByCustomer,
} from './integration.resource.js';

/** The published mappings of these customers. */
export async function findIntegrations(
  transaction: Transaction,
  customerIds: readonly string[],
): Promise<IntegrationsByCustomer> {
  if (customerIds.length === 0) return new Map();
  const rows = await transaction.any(sql.type(INTEGRATIONS.row)`
    SELECT * FROM integration_mappings
    WHERE entity_type = 'customer' AND entity_id = ANY (${sql.array([...customerIds], 'text')})
      AND status = 'published' AND ${isOfEnvironment}
    ORDER BY entity_id, provider_type`);
  const found = new Map<string, IntegrationRow[]>();
  for (const row of rows) {
    const others = found.get(row.entity_id);
    if (others === undefined) found.set(row.entity_id, [row]);
    else others.push(row);
  }
  return found;
}

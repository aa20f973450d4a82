import { markRemoved } from '../records/change-record.js';
import { isEqual } from '../records/conditions.js';
import { createRecords } from '../records/create-record.js';
import { findPublished } from '../records/find-record.js';
import type { MemberReader } from '../records/member-rules.js';
import { Refusal, reworded } from '../records/refusal.js';
import type { Unit } from '../records/unit.js';
import {
  INTEGRATIONS,
  type IntegrationEntityBody,
  type IntegrationRow,
} from '../declarations/customers/integration.resource.js';

const MEMBER = 'integration_entity_mapping';

/** The mappings of a request; two of one type and empty texts are noted. */
export function readIntegrations(
  reader: MemberReader,
  mappings: readonly IntegrationEntityBody[],
): readonly IntegrationEntityBody[] {
  const types = new Set(mappings.map((mapping) => mapping.provider_type));
  if (types.size < mappings.length) reader.note(MEMBER, 'must name each provider_type once');
  for (const [index, mapping] of mappings.entries()) {
    reader.name(`${MEMBER}.${index}.provider_type`, mapping.provider_type);
    reader.name(`${MEMBER}.${index}.provider_entity_id`, mapping.provider_entity_id);
  }
  return mappings;
}

const isSame = (row: IntegrationRow, mapping: IntegrationEntityBody): boolean =>
  row.provider_type === mapping.provider_type &&
  row.provider_entity_id === mapping.provider_entity_id;

/** Of what is wanted elsewhere already: the member of the request and the remedy. */
function takenRefusal(refusal: Refusal): Refusal {
  if (refusal.code !== 'already_exists') return refusal;
  const problem = 'names a provider_entity_id that another customer has';
  const remedy = 'take it away from that customer first';
  return new Refusal('already_exists', `${MEMBER} ${problem}; ${remedy}`, { [MEMBER]: problem });
}

/**
 * Gives a customer exactly these mappings: those that it has already stay as they are, and others
 * are archived. The customer must be new or locked.
 */
export async function changeIntegrations(
  unit: Unit,
  customerId: string,
  wanted: readonly IntegrationEntityBody[],
): Promise<void> {
  const existing = await findPublished(unit, INTEGRATIONS, [
    ...isEqual('entity_type', 'customer'),
    ...isEqual('entity_id', customerId),
  ]);
  for (const row of existing) {
    if (wanted.some((mapping) => isSame(row, mapping))) continue;
    await markRemoved(unit, INTEGRATIONS, row);
  }
  const added = wanted.filter((mapping) => !existing.some((row) => isSame(row, mapping)));
  const items = added.map((mapping) => ({
    entity_type: 'customer' as const,
    entity_id: customerId,
    provider_type: mapping.provider_type,
    provider_entity_id: mapping.provider_entity_id,
  }));
  const store = () => createRecords(unit, INTEGRATIONS, { items, isBulk: false });
  await reworded(store, takenRefusal);
}

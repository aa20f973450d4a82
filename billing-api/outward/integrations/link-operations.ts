import { PLANS } from '../../declarations/catalog/plan.resource.js';
import { PRICES } from '../../declarations/catalog/price.resource.js';
import { CUSTOMERS } from '../../declarations/customers/customer.resource.js';
import {
  INTEGRATIONS,
  type IntegrationRow,
  type LinkBody,
  type UnlinkBody,
} from '../../declarations/customers/integration.resource.js';
import { INVOICES } from '../../declarations/invoices/invoice.resource.js';
import { PAYMENTS } from '../../declarations/money/payment.resource.js';
import { SUBSCRIPTIONS } from '../../declarations/subscriptions/subscription.resource.js';
import { changeRecord, markRemoved } from '../../records/change-record.js';
import { isEqual } from '../../records/conditions.js';
import { createRecord } from '../../records/create-record.js';
import { findPublished, holdPublished } from '../../records/find-record.js';
import { MemberReader } from '../../records/member-rules.js';
import type { Occasion } from '../../records/occasion.js';
import { Refusal, Refused, reworded } from '../../records/refusal.js';
import { searchRecords, type Page } from '../../records/search-records.js';
import type { SearchBodyRequest } from '../../records/search-request.js';
import {
  readUnit,
  writeUnit,
  type ReadDependencies,
  type Unit,
  type WriteDependencies,
} from '../../records/unit.js';
import type { GatewayNeeds } from '../../money/gateway-payments/pending-payment.js';
import { payableThere } from './payable-there.js';

/** Holds what a link names; a customer shows its links, so its version rises (docs/http.md 4). */
async function holdLinked(
  unit: Unit,
  { entity_type: type, entity_id: id }: UnlinkBody,
): Promise<unknown> {
  switch (type) {
    case 'customer':
      return changeRecord(unit, CUSTOMERS, { target: { id }, change: () => ({}) });
    case 'plan':
      return holdPublished(unit, PLANS, id);
    case 'price':
      return holdPublished(unit, PRICES, id);
    case 'subscription':
      return holdPublished(unit, SUBSCRIPTIONS, id);
    case 'invoice':
      return holdPublished(unit, INVOICES, id);
    case 'payment':
      return holdPublished(unit, PAYMENTS, id);
  }
}

function readNames(reader: MemberReader, body: UnlinkBody): void {
  reader.name('provider_type', body.provider_type);
  reader.name('provider_entity_id', body.provider_entity_id);
}

/** Of a record that has one, or of an entity that belongs to another record. */
function takenRefusal(refusal: Refusal, body: LinkBody): Refusal {
  if (refusal.code !== 'already_exists') return refusal;
  const text = `the ${body.entity_type} has an entity of ${body.provider_type} already, or another one has this entity; unlink it first`;
  return new Refusal('already_exists', text);
}

/** POST /integrations/link. */
export async function linkEntity(
  dependencies: WriteDependencies,
  occasion: Occasion,
  body: LinkBody,
): Promise<IntegrationRow | Refusal> {
  const reader = new MemberReader();
  readNames(reader, body);
  const metadata = reader.metadata(body.metadata);
  const problems = reader.refusal();
  if (problems !== null) return problems;
  return writeUnit(dependencies, occasion, async (unit) => {
    await holdLinked(unit, body);
    const link = {
      entity_type: body.entity_type,
      entity_id: body.entity_id,
      provider_type: body.provider_type,
      provider_entity_id: body.provider_entity_id,
      metadata,
    };
    return reworded(
      () => createRecord(unit, INTEGRATIONS, link),
      (refusal) => takenRefusal(refusal, body),
    );
  });
}

/** DELETE /integrations/link: none by which an invoice could be paid here and there. */
export async function unlinkEntity(
  dependencies: GatewayNeeds,
  occasion: Occasion,
  body: UnlinkBody,
): Promise<IntegrationRow | Refusal> {
  const payable = await payableThere(dependencies, occasion, body);
  if (payable !== null) return payable;
  return writeUnit(dependencies, occasion, async (unit) => {
    await holdLinked(unit, body);
    const [row] = await findPublished(unit, INTEGRATIONS, [
      ...isEqual('entity_type', body.entity_type),
      ...isEqual('entity_id', body.entity_id),
      ...isEqual('provider_type', body.provider_type),
      ...isEqual('provider_entity_id', body.provider_entity_id),
    ]);
    if (row !== undefined) return markRemoved(unit, INTEGRATIONS, row);
    const what = `${body.entity_type} ${body.entity_id}`;
    const entity = `${body.provider_type} ${body.provider_entity_id}`;
    throw new Refused(new Refusal('not_found', `${what} is not linked to ${entity}`));
  });
}

/** Which links a list wants. */
export type LinkConditions = {
  readonly entityType: string | undefined;
  readonly entityId: string | undefined;
  readonly providerType: string | undefined;
};

/** GET /integrations/mappings. */
export function listLinks(
  dependencies: ReadDependencies,
  occasion: Occasion,
  { request, ...wanted }: LinkConditions & { readonly request: SearchBodyRequest },
): Promise<Page<IntegrationRow> | Refusal> {
  const conditions = [
    ...isEqual('entity_type', wanted.entityType),
    ...isEqual('entity_id', wanted.entityId),
    ...isEqual('provider_type', wanted.providerType),
  ];
  return readUnit(dependencies, occasion, (unit) =>
    searchRecords(unit, INTEGRATIONS, { request, conditions }),
  );
}

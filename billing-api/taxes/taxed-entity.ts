import { holdPublishedCustomer } from '../owners/hold-customer.js';
import { holdPublished } from '../records/find-record.js';
import type { MemberReader } from '../records/member-rules.js';
import { isRefusal, notFound, type Refusal } from '../records/refusal.js';
import type { Unit } from '../records/unit.js';
import { SUBSCRIPTIONS } from '../declarations/subscriptions/subscription.resource.js';
import type { CreateTaxAssociationBody } from '../declarations/taxes/tax-association.resource.js';
import type { TaxedEntity } from './taxes-store.js';

/** What a request wants to be taxed, as it names it. */
export type NamedEntity =
  | { readonly type: 'tenant'; readonly id: string | null }
  | { readonly type: 'customer'; readonly id: string | null; readonly externalId: string | null }
  | { readonly type: 'subscription'; readonly id: string };

const NONE: NamedEntity = { type: 'tenant', id: null };

function readExternalCustomer(
  reader: MemberReader,
  { entity_type: type, entity_id: id }: CreateTaxAssociationBody,
  externalId: string,
): NamedEntity {
  if (type !== undefined && type !== 'customer') {
    reader.note('entity_type', 'must be customer, or left out, with external_customer_id');
  }
  if (id !== undefined) reader.note('entity_id', 'cannot be combined with external_customer_id');
  return { type: 'customer', id: null, externalId };
}

/** Reads what is to be taxed: `entity_type` with `entity_id`, or `external_customer_id`. */
export function readTaxedEntity(reader: MemberReader, body: CreateTaxAssociationBody): NamedEntity {
  const { entity_type: type, entity_id: id, external_customer_id: externalId } = body;
  if (externalId !== undefined) return readExternalCustomer(reader, body, externalId);
  if (type === 'invoice') {
    reader.note('entity_type', 'invoice is not available yet; no invoice is stored');
    return NONE;
  }
  if (type === undefined) reader.note('entity_type', 'give entity_type or external_customer_id');
  if (type === undefined || type === 'tenant') return { type: 'tenant', id: id ?? null };
  if (id === undefined) reader.note('entity_id', `is required for a ${type}`);
  return { type, id: id ?? '', externalId: null };
}

/** Finds what is to be taxed and keeps it as it is until the unit ends; 404 for an unknown one. */
export async function holdTaxedEntity(
  unit: Unit,
  named: NamedEntity,
): Promise<TaxedEntity | Refusal> {
  switch (named.type) {
    case 'tenant': {
      const { tenantId } = unit.environment;
      if (named.id !== null && named.id !== tenantId) return notFound('tenant', named.id);
      return { type: 'tenant', id: tenantId };
    }
    case 'customer': {
      const customer = await holdPublishedCustomer(unit.tx, named);
      if (customer !== null) return { type: 'customer', id: customer.id };
      return notFound('customer', named.id ?? named.externalId ?? '');
    }
    case 'subscription': {
      const subscription = await holdPublished(unit, SUBSCRIPTIONS, named.id);
      if (isRefusal(subscription)) return subscription;
      return { type: 'subscription', id: subscription.id };
    }
  }
}

import { isIn } from '../domain/lifecycle/lifecycle.js';
import { INVOICE } from '../domain/lifecycle/invoice-lifecycle.js';
import { holdPublishedCustomer } from '../owners/hold-customer.js';
import { holdPublished, lockRecord } from '../records/find-record.js';
import type { MemberReader } from '../records/member-rules.js';
import { notFound, Refusal, Refused } from '../records/refusal.js';
import type { Unit } from '../records/unit.js';
import { INVOICES } from '../declarations/invoices/invoice.resource.js';
import { SUBSCRIPTIONS } from '../declarations/subscriptions/subscription.resource.js';
import type { CreateTaxAssociationBody } from '../declarations/taxes/tax-association.resource.js';
import type { TaxedEntity } from './taxes-store.js';

/** What a request wants to be taxed, as it names it. */
export type NamedEntity =
  | { readonly type: 'tenant'; readonly id: string | null }
  | { readonly type: 'customer'; readonly id: string | null; readonly externalId: string | null }
  | { readonly type: 'subscription' | 'invoice'; readonly id: string };

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
  if (type === undefined) reader.note('entity_type', 'give entity_type or external_customer_id');
  if (type === undefined || type === 'tenant') return { type: 'tenant', id: id ?? null };
  if (id === undefined) reader.note('entity_id', `is required for a ${type}`);
  return { type, id: id ?? '', externalId: null };
}

async function holdCustomer(
  unit: Unit,
  named: NamedEntity & { readonly type: 'customer' },
): Promise<TaxedEntity> {
  const customer = await holdPublishedCustomer(unit.tx, named);
  if (customer !== null) return { type: 'customer', id: customer.id };
  throw new Refused(notFound('customer', named.id ?? named.externalId ?? ''));
}

/** The draft that gets a tax, which counts when it is computed the next time. */
async function holdDraft(unit: Unit, id: string): Promise<TaxedEntity> {
  const invoice = await lockRecord(unit, INVOICES, id);
  if (invoice === null) throw new Refused(notFound(INVOICES.name, id));
  if (isIn(INVOICE, 'draft', invoice.invoice_status)) return { type: 'invoice', id };
  const problem = `the invoice is ${invoice.invoice_status}; only a DRAFT gets a tax of its own`;
  throw new Refused(new Refusal('invalid_operation', problem));
}

/** Finds what is to be taxed and keeps it as it is until the unit ends; 404 for an unknown one. */
export async function holdTaxedEntity(unit: Unit, named: NamedEntity): Promise<TaxedEntity> {
  switch (named.type) {
    case 'tenant': {
      const { tenantId } = unit.environment;
      if (named.id !== null && named.id !== tenantId)
        throw new Refused(notFound('tenant', named.id));
      return { type: 'tenant', id: tenantId };
    }
    case 'customer':
      return holdCustomer(unit, named);
    case 'subscription': {
      const subscription = await holdPublished(unit, SUBSCRIPTIONS, named.id);
      return { type: 'subscription', id: subscription.id };
    }
    case 'invoice':
      return holdDraft(unit, named.id);
  }
}

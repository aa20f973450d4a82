import type { MemberReader } from '../../records/member-rules.js';
import type { CreateSubscriptionBody } from './create-subscription-body.js';

/** How a subscription stands to others (docs/domain.md 29). */
export interface InheritanceBody {
  /** Another customer, who receives and pays the invoices of the subscription. @maxLength 255 */
  invoicing_customer_external_id?: string;
}

/** What a request says of other subscriptions and customers. */
export type RequestedInheritance = {
  /** Who pays, by its id or its external id; null where the customer pays itself. */
  readonly payer: { readonly id: string | null; readonly externalId: string | null } | null;
};

export const STANDALONE: RequestedInheritance = { payer: null };

/** A subscription whose invoices another customer pays, or one that pays its own. */
export function paidBy(payerId: string | null): RequestedInheritance {
  return payerId === null ? STANDALONE : { payer: { id: payerId, externalId: null } };
}

export function readInheritance(
  reader: MemberReader,
  body: CreateSubscriptionBody,
): RequestedInheritance {
  const { invoicing_customer_external_id: externalId } = body.inheritance ?? {};
  if (externalId === undefined) return STANDALONE;
  if (body.auto_invoice_threshold !== undefined) {
    reader.note(
      'auto_invoice_threshold',
      'goes with standalone subscriptions only; leave out inheritance',
    );
  }
  return { payer: { id: null, externalId } };
}

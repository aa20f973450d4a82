import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';
import { sql } from 'slonik';
import { formatInstant } from '../../../contract/instant.js';
import { assertPresent } from '../../../runtime/failure.js';
import { PLANS } from '../../declarations/catalog/plan.resource.js';
import { INVOICES } from '../../declarations/invoices/invoice.resource.js';
import {
  payerOf,
  SUBSCRIPTIONS,
  subscriptionToDto,
  type SubscriptionDto,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import { isIn } from '../../domain/lifecycle/lifecycle.js';
import { SUBSCRIPTION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { isOfEnvironment, rowIsIn } from '../../records/conditions.js';
import { lockRecord, readRecord } from '../../records/find-record.js';
import { accept, invalid, notFound, Refusal, Refused } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { refuseInherited } from '../../subscriptions/refuse-inherited.js';
import { findRevisions } from '../drafts/revisions.js';
import type { GivenInvoiceRequest, NamedSubscription } from './given-invoice-request.js';

/** The subscription that an invoice belongs to, and the place of the invoice among its invoices. */
export type InvoicedSubscription = {
  readonly subscription: SubscriptionDto;
  readonly sequence: number;
};

/** Why an invoice cannot belong to a subscription; null when it can. */
function ownerRefusal(
  row: SubscriptionRow,
  { customerId, currency }: GivenInvoiceRequest,
  { billingPeriod }: NamedSubscription,
): Refusal | null {
  const inherited = refuseInherited(row, 'has no invoices');
  if (inherited !== null) return inherited;
  const { subscription_status: status } = row;
  if (!isIn(SUBSCRIPTION, 'begun', status)) {
    const remedy = 'activate it before it is invoiced';
    return new Refusal('invalid_operation', `the subscription is ${status}; ${remedy}`);
  }
  const problems = {
    ...(payerOf(row) === customerId
      ? {}
      : { customer_id: `must be ${payerOf(row)}, who pays the invoices of the subscription` }),
    ...(row.currency === currency
      ? {}
      : { currency: `must be ${row.currency}, as the subscription has` }),
    ...(row.billing_period === billingPeriod
      ? {}
      : { billing_period: `must be ${row.billing_period}, as the subscription has` }),
  };
  return Object.keys(problems).length === 0 ? null : invalid(problems);
}

/** The invoice by hand of a subscription and a period that counts; null when there is none. */
async function findManual(
  { tx }: Unit,
  subscriptionId: string,
  { period }: GivenInvoiceRequest,
): Promise<string | null> {
  const { startMs, endMs } = assertPresent(period, 'the period of an invoice of a subscription');
  const found = await tx.maybeOne(sql.type(INVOICES.row)`
    SELECT * FROM invoices
    WHERE subscription_id = ${subscriptionId} AND invoice_type = 'SUBSCRIPTION'
      AND billing_reason = 'MANUAL' AND NOT ${rowIsIn(['invoice_status'], INVOICE, 'voided')}
      AND period_start = ${formatInstant(startMs)}::timestamptz
      AND period_end = ${formatInstant(endMs)}::timestamptz AND ${isOfEnvironment}`);
  return found?.id ?? null;
}

/**
 * Locks the subscription that an invoice with given lines is to belong to, so that of several for
 * the same period one is stored (docs/domain.md 13.1.1), and the others are refused with its id.
 */
export async function holdInvoiced(
  unit: Unit,
  request: GivenInvoiceRequest,
  named: NamedSubscription,
): Promise<InvoicedSubscription> {
  const row = await lockRecord(unit, SUBSCRIPTIONS, named.id);
  if (row?.status !== 'published') throw new Refused(notFound(SUBSCRIPTIONS.name, named.id));
  accept(ownerRefusal(row, request, named));
  const other = await findManual(unit, row.id, request);
  if (other !== null) {
    const problem = `the subscription has invoice ${other} for this period and reason`;
    throw new Refused(new Refusal('already_exists', `${problem}; void it, or give another period`));
  }
  const plan = await readRecord(unit, PLANS, row.plan_id);
  const revisions = await findRevisions(unit, [row.id]);
  return {
    subscription: subscriptionToDto(row, plan),
    sequence: revisions(row.id).lastSequence + 1,
  };
}

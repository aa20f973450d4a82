import { ANSWERED_CUSTOMERS } from '../../declarations/customers/customer.resource.js';
import {
  payerOf,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import type { LedgerPeriod } from '../../domain/periods/period-ledger.js';
import { findRecords } from '../../records/find-record.js';
import type { StatementUnit } from '../../records/unit.js';
import { billedFrom, type BilledSubscription } from '../../subscriptions/loaded-subscription.js';
import type { RelatedRecords } from '../../subscriptions/related-records.js';
import type { KnownRecords } from '../../invoicing/compute/load-billing-records.js';

/** A subscription that a unit has made, with all that belongs to it as it was stored. */
export type MadeSubscription = {
  readonly subscription: SubscriptionRow;
  readonly related: RelatedRecords;
  readonly periods: readonly LedgerPeriod[];
  readonly known: KnownRecords;
};

/** What its invoices are computed from. */
export function billedFromMade(made: MadeSubscription): BilledSubscription {
  const { subscription, related, periods } = made;
  return billedFrom(subscription, related, { periods, pauses: related.pauses });
}

/** A subscription that was changed since, as by joining a group, with the customer who pays. */
export async function changedSince(
  unit: StatementUnit,
  made: MadeSubscription,
  subscription: SubscriptionRow,
): Promise<MadeSubscription> {
  const { related } = made;
  const payerId = payerOf(subscription);
  if (related.customers.has(payerId)) return { ...made, subscription };
  const payers = await findRecords(unit, ANSWERED_CUSTOMERS, [payerId]);
  const customers = new Map([...related.customers, ...payers]);
  return { ...made, subscription, related: { ...related, customers } };
}

import type { PauseRow } from '../declarations/subscriptions/pause.resource.js';
import type { PhaseRow } from '../declarations/subscriptions/phase.resource.js';
import { findPauses } from './periods/pauses-store.js';
import { findPhases } from './phases-store.js';
import type { AttachedCoupon } from '../declarations/coupons/coupon-association.resource.js';
import { findAttachedCoupons } from '../coupons/coupons-store.js';
import type { CreditGrantRow } from '../declarations/credit-grants/credit-grant.resource.js';
import { findCreditGrantsOf } from '../credit-grants/credit-grants-store.js';
import {
  ANSWERED_CUSTOMERS,
  type AnsweredCustomerRow,
} from '../declarations/customers/customer.resource.js';
import { findRecords } from '../records/find-record.js';
import type { Transaction } from '../records/unit.js';
import {
  findBilledLines,
  withShownRecords,
  type BilledLines,
  type LineRecords,
} from './line-records.js';
import {
  payerOf,
  type SubscriptionRow,
} from '../declarations/subscriptions/subscription.resource.js';

/** What belongs to subscriptions and decides their invoices. */
export type BilledRecords = BilledLines & {
  readonly customers: ReadonlyMap<string, AnsweredCustomerRow>;
  /** Oldest first. */
  readonly coupons: readonly AttachedCoupon[];
};

/** Everything that belongs to subscriptions. */
export type RelatedRecords = BilledRecords &
  LineRecords & {
    readonly creditGrants: readonly CreditGrantRow[];
    /** In the order of time. */
    readonly pauses: readonly PauseRow[];
    /** In the order of time. */
    readonly phases: readonly PhaseRow[];
  };

/** One statement for each kind of record, whatever the number of subscriptions. */
export async function findBilledRecords(
  transaction: Transaction,
  rows: readonly SubscriptionRow[],
): Promise<BilledRecords> {
  const unit = { tx: transaction };
  const ids = rows.map((row) => row.id);
  const customerIds = rows.flatMap((row) => [row.customer_id, payerOf(row)]);
  return {
    ...(await findBilledLines(transaction, rows)),
    customers: await findRecords(unit, ANSWERED_CUSTOMERS, customerIds),
    coupons: await findAttachedCoupons(unit, ids),
  };
}

export async function findRelatedRecords(
  transaction: Transaction,
  rows: readonly SubscriptionRow[],
): Promise<RelatedRecords> {
  const ids = rows.map((row) => row.id);
  const billed = await findBilledRecords(transaction, rows);
  return {
    ...billed,
    ...(await withShownRecords(transaction, billed)),
    creditGrants: await findCreditGrantsOf(transaction, 'subscription_id', ids),
    pauses: await findPauses({ tx: transaction }, ids),
    phases: await findPhases({ tx: transaction }, ids),
  };
}

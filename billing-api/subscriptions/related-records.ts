import { groupBy } from '../../runtime/group-by.js';
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

/** What belongs to subscriptions and is answered with each of them. */
export type ShownRecords = {
  /** Oldest first. */
  readonly coupons: readonly AttachedCoupon[];
  readonly creditGrants: readonly CreditGrantRow[];
  /** In the order of time. */
  readonly pauses: readonly PauseRow[];
  /** In the order of time. */
  readonly phases: readonly PhaseRow[];
};

/** Everything that belongs to subscriptions. */
export type RelatedRecords = BilledRecords & LineRecords & ShownRecords;

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

/** All but the coupons, which invoices are computed from as well. */
async function findGrantsAndTimes(
  tx: Transaction,
  ids: readonly string[],
): Promise<Omit<ShownRecords, 'coupons'>> {
  return {
    creditGrants: await findCreditGrantsOf(tx, 'subscription_id', ids),
    pauses: await findPauses({ tx }, ids),
    phases: await findPhases({ tx }, ids),
  };
}

/** What is answered with each of these subscriptions; one statement for each kind of record. */
export async function findShownRecords(
  tx: Transaction,
  ids: readonly string[],
): Promise<(id: string) => ShownRecords> {
  const coupons = groupBy(
    await findAttachedCoupons({ tx }, ids),
    ({ association }) => association.subscription_id,
  );
  const others = await findGrantsAndTimes(tx, ids);
  const creditGrants = groupBy(others.creditGrants, (row) => row.subscription_id);
  const pauses = groupBy(others.pauses, (row) => row.subscription_id);
  const phases = groupBy(others.phases, (row) => row.subscription_id);
  return (id) => ({
    // Absent means none: the subscription has no such record.
    coupons: coupons.get(id) ?? [],
    // Absent means none: as above.
    creditGrants: creditGrants.get(id) ?? [],
    // Absent means none: as above.
    pauses: pauses.get(id) ?? [],
    // Absent means none: as above.
    phases: phases.get(id) ?? [],
  });
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
    ...(await findGrantsAndTimes(transaction, ids)),
  };
}

import type { FeatureRow } from '../../declarations/catalog/feature.resource.js';
import {
  findFeaturesOfMeters,
  findUnknownFeatureIds,
} from '../../catalog/features/features-store.js';
import type { PeriodLedger } from '../../domain/periods/period-ledger.js';
import type { CustomerRow } from '../../declarations/customers/customer.resource.js';
import { findCustomerByExternalId } from '../../customers/customers-store.js';
import { notFound, Refused } from '../../records/refusal.js';
import type { ReadUnit } from '../../records/unit.js';
import { findLineRecords, type LineRecords } from '../../subscriptions/line-records.js';
import type { SubscriptionRow } from '../../declarations/subscriptions/subscription.resource.js';
import { findPeriods } from '../../subscriptions/periods/periods-store.js';
import { ledgerFrom } from '../../subscriptions/subscription-terms.js';
import { findSubscriptionsOfCustomer } from '../../subscriptions/subscriptions-store.js';

/** The stored records that analytics of a customer are made from. */
export type AnalyticsRecords = {
  readonly customer: CustomerRow;
  readonly subscriptions: readonly SubscriptionRow[];
  /** Of each subscription, by id. */
  readonly ledgers: ReadonlyMap<string, PeriodLedger>;
  readonly related: LineRecords;
  readonly features: readonly FeatureRow[];
};

/** Reads them; a feature that the query names and that does not exist is refused. */
export async function findAnalyticsRecords(
  { tx }: ReadUnit,
  {
    externalId,
    featureIds,
  }: { readonly externalId: string; readonly featureIds: readonly string[] },
): Promise<AnalyticsRecords> {
  const customer = await findCustomerByExternalId(tx, externalId);
  if (customer === null) throw new Refused(notFound('customer', externalId));
  const [unknown] = await findUnknownFeatureIds(tx, featureIds);
  if (unknown !== undefined) throw new Refused(notFound('feature', unknown));
  const subscriptions = await findSubscriptionsOfCustomer(tx, customer.id);
  const related = await findLineRecords(tx, subscriptions);
  const meterIds = related.lineItems.map((item) => item.meter_id).filter((id) => id !== null);
  const features = await findFeaturesOfMeters(tx, meterIds);
  const periods = await findPeriods(
    tx,
    subscriptions.map(({ id }) => id),
  );
  const ledgers = new Map(
    subscriptions.map((row) => [row.id, ledgerFrom(row, periods.get(row.id))]),
  );
  return { customer, subscriptions, ledgers, related, features };
}

import { assertPresent } from '../../../runtime/failure.js';
import { findFeaturesOfMeters } from '../../catalog/features/features-store.js';
import type { AnsweredCustomerRow } from '../../declarations/customers/customer.resource.js';
import type { EntitlementSource } from '../../domain/entitlement/entitlement.js';
import type { UsageWatermark } from '../../domain/usage/watermark.js';
import type { ReadUnit } from '../../records/unit.js';
import { findMetering, type Metering } from '../../subscriptions/lines/metering.js';
import { findEntitlementSources } from '../../subscriptions/entitlement-sources.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import { findTaxesOf } from '../../taxes/taxes-store.js';
import { findCheckpoints } from '../../usage/watermark/checkpoints.js';
import type { InvoiceQuery } from './invoice-query.js';

/** What an invoice needs of PostgreSQL beside its subscription. */
export type BillingRecords = {
  readonly customer: AnsweredCustomerRow;
  readonly metering: Metering;
  readonly entitlements: readonly EntitlementSource[];
  /** Of every level, whether or not they count (docs/domain.md 15). */
  readonly taxes: Awaited<ReturnType<typeof findTaxesOf>>;
  /** The oldest published feature of each meter; empty unless usage is grouped by feature. */
  readonly featureIds: ReadonlyMap<string, string>;
  /** Exactly the events below it are behind the lines. */
  readonly watermark: UsageWatermark;
};

async function findFeatureIds(
  { tx }: ReadUnit,
  lineItems: readonly LineItemRow[],
): Promise<ReadonlyMap<string, string>> {
  const meterIds = lineItems.map((item) => item.meter_id).filter((id) => id !== null);
  const features = await findFeaturesOfMeters(tx, meterIds);
  const newestFirst = [...features].reverse();
  return new Map(
    newestFirst.map((feature) => [
      assertPresent(feature.meter_id, 'the meter of a feature'),
      feature.id,
    ]),
  );
}

function generationsOf({ effectiveMeters }: Metering): UsageWatermark['generations'] {
  return new Map([...effectiveMeters].map(([id, { generations }]) => [id, generations]));
}

/** Loads the records of an invoice in the snapshot in which its subscription was read. */
export async function loadBillingRecords(
  unit: ReadUnit,
  { loaded, lineItems, grouping }: InvoiceQuery,
): Promise<BillingRecords> {
  const { subscription, related } = loaded;
  const customer = related.customers.get(subscription.customer_id);
  const metering = await findMetering(unit.tx, lineItems);
  const { ends } = await findCheckpoints(unit.tx);
  return {
    customer: assertPresent(customer, 'the customer of the subscription'),
    metering,
    entitlements: await findEntitlementSources(unit, subscription),
    taxes: await findTaxesOf(unit, [
      { type: 'subscription', id: subscription.id },
      { type: 'customer', id: subscription.customer_id },
      { type: 'tenant', id: subscription.tenant_id },
    ]),
    watermark: { ends, generations: generationsOf(metering) },
    featureIds: grouping.hasFeature ? await findFeatureIds(unit, lineItems) : new Map(),
  };
}

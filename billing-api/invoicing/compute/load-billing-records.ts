import { assertPresent, mustGet, zip } from '../../../runtime/failure.js';
import { findFeaturesOfMeters } from '../../catalog/features/features-store.js';
import type { MeterRow } from '../../declarations/catalog/meter.resource.js';
import type { AnsweredCustomerRow } from '../../declarations/customers/customer.resource.js';
import type { EntitlementSource } from '../../domain/entitlement/entitlement.js';
import type { UsageOwner } from '../../domain/usage/usage-owner.js';
import type { UsageWatermark } from '../../domain/usage/watermark.js';
import { recordsByOwner } from '../../records/records-by-owner.js';
import type { ReadUnit } from '../../records/unit.js';
import { findMetering, type Metering } from '../../subscriptions/lines/metering.js';
import { findUsageOwners } from '../../subscriptions/children-store.js';
import {
  findEntitlementSources,
  type EntitledRecords,
} from '../../subscriptions/entitlement-sources.js';
import { payerOf } from '../../declarations/subscriptions/subscription.resource.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import { findTaxesOf, type TaxedEntity } from '../../taxes/taxes-store.js';
import { findCheckpoints } from '../../usage/watermark/checkpoints.js';
import type { InvoiceQuery } from './invoice-query.js';

/** What an invoice needs of PostgreSQL beside its subscription. */
export type BillingRecords = {
  /** Who pays it (docs/domain.md 29.3). */
  readonly payer: AnsweredCustomerRow;
  readonly usageOf: readonly UsageOwner[];
  readonly metering: Metering;
  readonly entitlements: readonly EntitlementSource[];
  /** Of every level, whether or not they count (docs/domain.md 15). */
  readonly taxes: Awaited<ReturnType<typeof findTaxesOf>>;
  /** The oldest published feature of each meter of the invoices that group usage by feature. */
  readonly featureIds: ReadonlyMap<string, string>;
  /** Exactly the events below it are behind the lines. */
  readonly watermark: UsageWatermark;
};

/** The records of an invoice, and those of its grouped children in their order. */
export type GroupedRecords = BillingRecords & { readonly children: readonly BillingRecords[] };

/** The oldest published feature of each meter of the queries that group usage by feature. */
async function findFeatureIds(
  { tx }: ReadUnit,
  queries: readonly InvoiceQuery[],
): Promise<ReadonlyMap<string, string>> {
  const lineItems = queries.flatMap((query) => (query.grouping.hasFeature ? query.lineItems : []));
  const features = await findFeaturesOfMeters(tx, meterIdsOf(lineItems));
  const newestFirst = [...features].reverse();
  return new Map(
    newestFirst.map((feature) => [
      assertPresent(feature.meter_id, 'the meter of a feature'),
      feature.id,
    ]),
  );
}

function meterIdsOf(lineItems: readonly LineItemRow[]): readonly string[] {
  return lineItems.map((item) => item.meter_id).filter((id) => id !== null);
}

/** The meters of these line items alone. */
function meteringOf({ meters, effectiveMeters }: Metering, lineItems: readonly LineItemRow[]) {
  const ids = new Set(meterIdsOf(lineItems));
  const isOwn = ([id]: readonly [string, unknown]): boolean => ids.has(id);
  return {
    meters: new Map([...meters].filter(isOwn)),
    effectiveMeters: new Map([...effectiveMeters].filter(isOwn)),
  };
}

function generationsOf({ effectiveMeters }: Metering): UsageWatermark['generations'] {
  return new Map([...effectiveMeters].map(([id, { generations }]) => [id, generations]));
}

/** The corrections of its events that are in force; none is no member, as in stored watermarks. */
function correctionsOf({ effectiveMeters }: Metering): Pick<UsageWatermark, 'corrections'> {
  const corrected = [...effectiveMeters].filter(([, { corrections }]) => corrections.length > 0);
  if (corrected.length === 0) return {};
  return { corrections: new Map(corrected.map(([id, { corrections }]) => [id, corrections])) };
}

/** What taxes of an invoice can belong to, but not to line items. */
function taxedEntitiesOf({ loaded, invoiceId = null }: InvoiceQuery): readonly TaxedEntity[] {
  const { subscription } = loaded;
  return [
    ...(invoiceId === null ? [] : [{ type: 'invoice' as const, id: invoiceId }]),
    { type: 'subscription', id: subscription.id },
    { type: 'customer', id: payerOf(subscription) },
    { type: 'tenant', id: subscription.tenant_id },
  ];
}

function entityName({ type, id }: { readonly type: string; readonly id: string }): string {
  return `${type} ${id}`;
}

/** The taxes of each invoice, as if only they had been read. */
async function findTaxes(
  unit: ReadUnit,
  queries: readonly InvoiceQuery[],
  known?: BillingRecords['taxes'],
) {
  const taxes = known ?? (await findTaxesOf(unit, queries.flatMap(taxedEntitiesOf)));
  const ownedBy = recordsByOwner(taxes, ({ association: { entity_type: type, entity_id: id } }) =>
    entityName({ type, id }),
  );
  return queries.map((query) => ownedBy(taxedEntitiesOf(query).map(entityName)));
}

/** Records of subscriptions that a unit has made or read itself, which are not read again. */
export type KnownRecords = {
  /** Of all line items. */
  readonly meters: ReadonlyMap<string, MeterRow>;
  /** Whose usage belongs to each of them. */
  readonly owners?: ReadonlyMap<string, readonly UsageOwner[]>;
  readonly entitled: EntitledRecords;
  /** Of the subscription, of who pays and of the tenant. */
  readonly taxes?: BillingRecords['taxes'];
};

/** The records of invoices with what their grouped children need, whose taxes do not count. */
export async function loadGroupedRecords(
  unit: ReadUnit,
  queries: readonly InvoiceQuery[],
  knownRecords?: KnownRecords,
): Promise<readonly GroupedRecords[]> {
  const all = queries.flatMap((query) => [query, ...childrenOf(query)]);
  const found = new Map(zip(all, await loadBillingRecords(unit, all, knownRecords)));
  return queries.map((query) => {
    const own = mustGet(found, query, 'the records of an invoice');
    const children = childrenOf(query).map((child) => {
      const records = mustGet(found, child, 'the records of a child');
      return { ...records, payer: own.payer, taxes: [] };
    });
    const generations = [own, ...children].flatMap((one) => [...one.watermark.generations]);
    const corrections = [own, ...children].flatMap(({ watermark: { corrections: some } }) =>
      some === undefined ? [] : [...some],
    );
    const watermark = {
      ...own.watermark,
      generations: new Map(generations),
      ...(corrections.length === 0 ? {} : { corrections: new Map(corrections) }),
    };
    return { ...own, watermark, children };
  });
}

/** The grouped children of an invoice. */
export function childrenOf({ children = [] }: InvoiceQuery): readonly InvoiceQuery[] {
  return children;
}

/**
 * Loads the records of invoices in the snapshot in which their subscriptions were read: one list
 * for all, in their order. One statement for each kind of record, whatever the number of invoices.
 */
async function loadBillingRecords(
  unit: ReadUnit,
  queries: readonly InvoiceQuery[],
  known?: KnownRecords,
): Promise<readonly BillingRecords[]> {
  if (queries.length === 0) return [];
  const all = await findMetering(
    unit.tx,
    queries.flatMap(({ lineItems }) => lineItems),
    known?.meters,
  );
  const { ends } = await findCheckpoints(unit.tx);
  const subscriptions = queries.map(({ loaded }) => loaded.subscription);
  const ids = subscriptions.map(({ id }) => id);
  const owners = known?.owners ?? (await findUsageOwners(unit, ids));
  const entitled = queries.map(({ loaded }) => ({
    row: loaded.subscription,
    ledger: loaded.terms,
  }));
  const entitlements = await findEntitlementSources(unit, entitled, known?.entitled);
  const taxes = await findTaxes(unit, queries, known?.taxes);
  const featureIds = await findFeatureIds(unit, queries);
  return zip(queries, zip(entitlements, taxes)).map(([query, [own, ofOne]]) => {
    const { subscription, related } = query.loaded;
    const metering = meteringOf(all, query.lineItems);
    return {
      payer: mustGet(related.customers, payerOf(subscription), 'the customer who pays'),
      usageOf: mustGet(owners, subscription.id, 'the owners of usage'),
      metering,
      entitlements: own,
      taxes: ofOne,
      watermark: { ends, generations: generationsOf(metering), ...correctionsOf(metering) },
      featureIds,
    };
  });
}

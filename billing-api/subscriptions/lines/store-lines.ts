import { plain } from '../../../contract/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';
import { assertPresent } from '../../../runtime/failure.js';
import type { IdSource } from '../../../runtime/ids.js';
import type { CustomerRow } from '../../customers/customer.resource.js';
import type { MeterRow } from '../../catalog/meters/meter.resource.js';
import type { PlanRow } from '../../catalog/plans/plan.resource.js';
import { priceTermsToColumns } from '../../catalog/prices/price-terms.js';
import { PRICES, type PriceRow, type TimeBucketColumn } from '../../catalog/prices/prices-store.js';
import { insertRows, instantValue, newRecordColumns, type NewRow } from '../../records/records.js';
import { LINE_ITEMS, type LineItemRow } from '../subscriptions-store.js';
import type { Transaction } from '../../records/unit.js';
import type { Caller } from '../../records/caller.js';
import type { DraftPrice, LineDraft, NewPrice, TimeBucketDraft } from './line-draft.js';
import { alreadyExists, type Refusal } from '../../records/refusal.js';

/** The subscription that the lines are for. */
export type LinesOwner = {
  readonly caller: Caller;
  readonly createId: IdSource;
  readonly subscriptionId: string;
  readonly now: InstantMs;
  readonly startMs: InstantMs;
  readonly customer: CustomerRow;
  readonly plan: PlanRow;
};

/** A draft with the id of its price, which is stored or about to be. */
type PricedDraft = { readonly draft: LineDraft; readonly priceId: string };

/** Gives new prices an id and their place among the prices of the subscription. */
function pricing(owner: LinesOwner) {
  const rows: NewRow[] = [];
  const add = ({ terms, kept }: NewPrice, buckets: readonly TimeBucketColumn[]): string => {
    const id = owner.createId('price');
    rows.push({
      ...newRecordColumns(owner.caller, id, owner.now),
      ...priceTermsToColumns(terms),
      ...kept,
      commitment_time_buckets: buckets.length === 0 ? null : buckets,
      sequence: rows.length + 1,
    });
    return id;
  };
  const idOf = (price: DraftPrice, buckets: readonly TimeBucketColumn[] = []): string =>
    price.kind === 'new' ? add(price.price, buckets) : price.row.id;
  return { rows, idOf };
}

function bucketColumn(
  { wish }: TimeBucketDraft,
  ids: { readonly id: string; readonly priceId: string },
): TimeBucketColumn {
  return {
    id: ids.id,
    start: wish.start,
    end: wish.end,
    commitment_type: wish.commitmentType,
    commitment_value: plain(wish.commitmentValue),
    overage_factor: wish.overageFactor,
    true_up_enabled: wish.isTrueUpEnabled,
    price_id: ids.priceId,
  };
}

/** Stores the prices that are made for the subscription; others are used as they are. */
async function storePrices(
  transaction: Transaction,
  owner: LinesOwner,
  drafts: readonly LineDraft[],
): Promise<{ priced: readonly PricedDraft[]; stored: readonly PriceRow[] } | Refusal> {
  const { rows, idOf } = pricing(owner);
  const priced = drafts.map((draft) => {
    const buckets = draft.timeBuckets.map((bucket) =>
      bucketColumn(bucket, { id: owner.createId('bucket'), priceId: idOf(bucket.price) }),
    );
    return { draft, priceId: idOf(draft.price, buckets) };
  });
  const stored = await insertRows(transaction, PRICES, rows);
  // A price that was left out repeats a lookup key, of a stored price or of the same request.
  return stored.length < rows.length ? alreadyExists('price', 'lookup_key') : { priced, stored };
}

/** A price that begins later is not charged before; one that began earlier is charged at once. */
function lineStart(price: PriceRow, { now, startMs }: LinesOwner): InstantMs {
  return price.start_date > now ? Math.max(price.start_date, startMs) : startMs;
}

/** Domain.md 9.1: usage lines carry 0, fixed ones what is given, else the price's default. */
function meteredColumns(
  price: PriceRow,
  { quantity }: LineDraft,
  meter: MeterRow | undefined,
): NewRow {
  const isUsage = price.type === 'USAGE';
  return {
    meter_id: isUsage ? price.meter_id : null,
    meter_display_name: isUsage ? (meter?.name ?? null) : null,
    quantity: isUsage ? '0' : (quantity ?? price.min_quantity ?? '1'),
  };
}

/** Whose line it is; a line that no plan brings is the subscription's own. */
function entityColumns({ entityType }: LineDraft, { plan, subscriptionId }: LinesOwner): NewRow {
  return entityType === 'plan'
    ? { entity_type: 'plan', entity_id: plan.id, plan_display_name: plan.name }
    : { entity_type: 'subscription', entity_id: subscriptionId, plan_display_name: null };
}

function lineItemColumns(
  draft: LineDraft,
  owner: LinesOwner,
  found: { readonly id: string; readonly price: PriceRow; readonly meter: MeterRow | undefined },
): NewRow {
  const { price, meter } = found;
  return {
    ...newRecordColumns(owner.caller, found.id, owner.now),
    subscription_id: owner.subscriptionId,
    customer_id: owner.customer.id,
    ...entityColumns(draft, owner),
    price_id: price.id,
    price_type: price.type,
    ...meteredColumns(price, draft, meter),
    display_name: draft.displayName ?? price.display_name ?? meter?.name ?? owner.plan.name,
    currency: price.currency,
    billing_period: price.billing_period,
    billing_period_count: price.billing_period_count,
    invoice_cadence: price.invoice_cadence,
    start_date: instantValue(lineStart(price, owner)),
    end_date: null,
    ...draft.commitment,
    metadata: draft.metadata,
  };
}

export type StoredLines = {
  readonly lineItems: readonly LineItemRow[];
  /** Of the lines and of their time buckets, as far as they are new; and of the lines all. */
  readonly prices: ReadonlyMap<string, PriceRow>;
};

/** Stores drafted lines with the prices that are made for them, in their order. */
export async function storeLines(
  transaction: Transaction,
  owner: LinesOwner,
  lines: {
    readonly drafts: readonly LineDraft[];
    readonly meters: ReadonlyMap<string, MeterRow>;
  },
): Promise<StoredLines | Refusal> {
  const result = await storePrices(transaction, owner, lines.drafts);
  if (!('priced' in result)) return result;
  const named = lines.drafts.flatMap(({ price }) => (price.kind === 'stored' ? [price.row] : []));
  const prices = new Map([...named, ...result.stored].map((row) => [row.id, row]));
  // Line order is by created_at, then id: sorted ids keep the order of the drafts.
  const ids = lines.drafts.map(() => owner.createId('subs_line')).sort();
  const rows = result.priced.map(({ draft, priceId }, index) => {
    const id = assertPresent(ids[index], 'an id for every line item');
    const price = assertPresent(prices.get(priceId), 'the price of a line');
    const meter = lines.meters.get(price.meter_id ?? '');
    return lineItemColumns(draft, owner, { id, price, meter });
  });
  return { lineItems: await insertRows(transaction, LINE_ITEMS, rows), prices };
}

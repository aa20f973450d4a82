import { plain } from '../../../contract/number/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';
import { assertPresent, mustGet } from '../../../runtime/failure.js';
import type { PlanRow } from '../../declarations/catalog/plan.resource.js';
import { storePrices, type StorablePrice } from '../../catalog/prices/create-prices.js';
import { priceToColumns, type PriceRow } from '../../declarations/catalog/price.resource.js';
import type { TimeBucketColumn } from '../../declarations/catalog/price-json.js';
import { createRecords } from '../../records/create-record.js';
import type { Unit } from '../../records/unit.js';
import {
  LINE_ITEMS,
  type LineItemRow,
  type NewLineItemRow,
} from '../../declarations/subscriptions/line-item.resource.js';
import type { LineContext, LinePrice, NewPrice } from './line-price.js';
import type { NewLine, PricedTimeBucket } from './new-line.js';

/** The subscription that the lines are for. */
export type LinesOwner = {
  readonly subscriptionId: string;
  readonly customerId: string;
  readonly startMs: InstantMs;
  readonly plan: Pick<PlanRow, 'id' | 'name'>;
  /** Whether the lines begin in a period that runs, whose charges in advance are made. */
  readonly isRunning: boolean;
};

type NamedMeter = { readonly name: string };

/** A new line with the id of its price, which is stored or about to be. */
type PricedLine = { readonly line: NewLine; readonly priceId: string };

/** Gives new prices the ids by which lines and time buckets name them. */
function namedPrices({ newId }: Unit) {
  const rows: StorablePrice[] = [];
  const add = ({ terms, passthrough }: NewPrice, buckets: readonly TimeBucketColumn[]): string => {
    const id = newId('price');
    rows.push({
      ...priceToColumns(terms),
      ...passthrough,
      id,
      commitment_time_buckets: buckets.length === 0 ? null : [...buckets],
    });
    return id;
  };
  const idOf = (price: LinePrice, buckets: readonly TimeBucketColumn[] = []): string =>
    price.kind === 'new' ? add(price.price, buckets) : price.row.id;
  return { rows, idOf };
}

function timeBucketToColumn(
  { bucket }: PricedTimeBucket,
  ids: { readonly id: string; readonly price_id: string },
): TimeBucketColumn {
  return {
    ...ids,
    start: bucket.start,
    end: bucket.end,
    commitment_type: bucket.commitmentType,
    commitment_value: plain(bucket.commitmentValue),
    overage_factor: bucket.overageFactor,
    true_up_enabled: bucket.isTrueUpEnabled,
  };
}

/** Stores the prices that are made for the subscription; others are used as they are. */
async function storeNewPrices(
  unit: Unit,
  lines: readonly NewLine[],
): Promise<{ priced: readonly PricedLine[]; stored: readonly PriceRow[] }> {
  const { rows, idOf } = namedPrices(unit);
  const priced = lines.map((line) => {
    const buckets = line.timeBuckets.map((bucket) => {
      const ids = { id: unit.newId('bucket'), price_id: idOf(bucket.price) };
      return timeBucketToColumn(bucket, ids);
    });
    return { line, priceId: idOf(line.price, buckets) };
  });
  const stored = await storePrices(unit, { items: rows, isBulk: false }, 'line_items');
  return { priced, stored };
}

/**
 * A price is not charged before a start that its caller gave, nor before one that lies in the
 * future. A start that was only defaulted delays no subscription that began earlier.
 */
function lineStart(price: PriceRow, startMs: InstantMs, now: InstantMs): InstantMs {
  const isKept = price.is_start_given || price.start_date > now;
  return isKept ? Math.max(price.start_date, startMs) : startMs;
}

/** docs/domain.md 9.1: usage lines carry 0, fixed ones what is given, else the price's default. */
function meteredColumns(
  price: PriceRow,
  { quantity }: NewLine,
  meter: NamedMeter | undefined,
): Pick<NewLineItemRow, 'meter_id' | 'meter_display_name' | 'quantity'> {
  const isUsage = price.type === 'USAGE';
  return {
    meter_id: isUsage ? price.meter_id : null,
    meter_display_name: isUsage ? (meter?.name ?? null) : null,
    quantity: isUsage ? '0' : (quantity ?? price.min_quantity ?? '1'),
  };
}

type OwnerColumns = Pick<
  NewLineItemRow,
  'entity_type' | 'entity_id' | 'addon_association_id' | 'plan_display_name'
>;

/** The owner of a line: its plan or addon, or the subscription where none of them brings it. */
function ownerColumns(
  { entityType: entity_type, addon }: NewLine,
  { plan, subscriptionId }: LinesOwner,
): OwnerColumns {
  const idOf = {
    plan: () => plan.id,
    addon: () => assertPresent(addon, 'the addon that brings a line').id,
    subscription: () => subscriptionId,
  };
  return {
    entity_type,
    entity_id: idOf[entity_type](),
    addon_association_id: addon?.associationId ?? null,
    plan_display_name: entity_type === 'plan' ? plan.name : null,
  };
}

/** What the line is called when neither the request nor its price or meter says it. */
function lastName({ addon }: NewLine, { plan }: LinesOwner): string {
  return addon?.name ?? plan.name;
}

/** What a line continues, and the phase whose dates it has. */
function lineageColumns({ id, phase, continues }: NewLine) {
  return {
    ...(id === undefined ? {} : { id }),
    subscription_phase_id: phase === undefined ? null : phase.id,
    predecessor_id: continues === undefined ? null : continues.id,
    is_settled: continues !== undefined && continues.isSettled,
  };
}

/** From when on a line is there, as far as its price allows. */
function startOf({ addon, phase }: NewLine, owner: LinesOwner): InstantMs {
  return phase?.startMs ?? addon?.startMs ?? owner.startMs;
}

function newLineItem(
  line: NewLine,
  owner: LinesOwner,
  found: {
    readonly now: InstantMs;
    readonly price: PriceRow;
    readonly meter: NamedMeter | undefined;
  },
): NewLineItemRow & { readonly id?: string } {
  const { price, meter, now } = found;
  return {
    subscription_id: owner.subscriptionId,
    customer_id: owner.customerId,
    ...ownerColumns(line, owner),
    price_id: price.id,
    price_type: price.type,
    ...meteredColumns(price, line, meter),
    display_name: line.displayName ?? price.display_name ?? meter?.name ?? lastName(line, owner),
    currency: price.currency,
    billing_period: price.billing_period,
    billing_period_count: price.billing_period_count,
    invoice_cadence: price.invoice_cadence,
    start_date: lineStart(price, startOf(line, owner), now),
    end_date: line.endMs,
    ...line.commitment,
    ...lineageColumns(line),
    is_late: owner.isRunning,
    metadata: line.metadata,
  };
}

export type StoredLines = {
  readonly lineItems: readonly LineItemRow[];
  /** Of the lines and of the time buckets that they were given. */
  readonly prices: ReadonlyMap<string, PriceRow>;
};

/** Stores new lines, with the prices that are made for them, in their order. */
export async function storeLines(
  unit: Unit,
  owner: LinesOwner,
  {
    lines,
    meters,
  }: {
    readonly lines: readonly NewLine[];
    readonly meters: LineContext['meters'];
  },
): Promise<StoredLines> {
  const result = await storeNewPrices(unit, lines);
  const given = lines.flatMap(({ price, timeBuckets }) => [
    price,
    ...timeBuckets.map((bucket) => bucket.price),
  ]);
  const named = given.flatMap((price) => (price.kind === 'stored' ? [price.row] : []));
  const prices = new Map([...named, ...result.stored].map((row) => [row.id, row]));
  const rows = result.priced.map(({ line, priceId }) => {
    const price = mustGet(prices, priceId, 'the price of a line');
    const { meter_id: meterId } = price;
    const meter = meterId === null ? undefined : mustGet(meters, meterId, 'the meter of a price');
    return newLineItem(line, owner, { price, meter, now: unit.now });
  });
  const lineItems = await createRecords(unit, LINE_ITEMS, { items: rows, isBulk: false });
  return { lineItems, prices };
}

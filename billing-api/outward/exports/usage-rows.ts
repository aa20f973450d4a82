import { sql } from 'slonik';
import { z } from 'zod';
import { queryFile } from '../../../clickhouse/query-file.js';
import { addAt, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import { formatInstant, type InstantMs, type Interval } from '../../../contract/instant.js';
import { assertPresent, mustGet, zip } from '../../../runtime/failure.js';
import { findFeaturesOfMeters } from '../../catalog/features/features-store.js';
import type { EffectiveMeter } from '../../catalog/meters/effective-meters.js';
import { GROUPS } from '../../declarations/catalog/group.resource.js';
import { CUSTOMERS, type CustomerRow } from '../../declarations/customers/customer.resource.js';
import type { ExportMetadataFieldDto } from '../../declarations/exports/scheduled-task.resource.js';
import type { CountedWindow } from '../../declarations/exports/task.resource.js';
import { allocateByWeight } from '../../domain/money/allocate.js';
import { formatMoney, Money } from '../../domain/money/money.js';
import { partitionName } from '../../domain/usage/watermark.js';
import { findCountingMeters } from '../../events/event-meters.js';
import { rowIsOfEnvironment } from '../../records/conditions.js';
import { findRecords } from '../../records/find-record.js';
import type { JobActor, Occasion } from '../../records/occasion.js';
import { mustRead, type ReadUnit } from '../../records/unit.js';
import { cellQueriesOf } from '../../usage/read-usage.js';
import type { ExportNeeds, Row } from './export-needs.js';
import { usageRow, type Catalog, type Cells } from './usage-row.js';
import {
  readUsageCharges,
  type ChargedCustomer,
  type CustomerCharges,
  type MeterCharge,
} from './usage-charges.js';
import {
  addedFigures,
  eventsQuery,
  readFigures,
  type FiguresQuery,
  type SourceFigures,
} from './usage-figures.js';

const DAY_MS = 86_400_000;

/** Customers whose usage is read and priced at once. */
const CUSTOMERS_AT_ONCE = 50;

const LATE_CUSTOMERS = queryFile('list-late-customers');

type At = Occasion<JobActor>;
type Wanted = { readonly window: Interval; readonly counted: CountedWindow };

const lateRow = z.object({ customer_key: z.string(), first_ms: z.string().transform(Number) });

/** Customers with events before the window that came since the file before it, by their keys. */
async function findLate(
  needs: ExportNeeds,
  { environment }: At,
  { window, counted: { ends, since } }: Wanted,
): Promise<ReadonlyMap<string, InstantMs>> {
  if (since === null || ends.length === 0) return new Map();
  const known = new Map(since.ends.map((end) => [partitionName(end), end.countedBelow]));
  const parameters = {
    ...environment,
    beforeMs: window.startMs,
    // Absent means the beginning of time: nothing was counted when the file before was fixed.
    countedMs: Math.max(since.dataUntil ?? 0, DAY_MS),
    logs: ends.map(({ log }) => log),
    partitions: ends.map(({ partition }) => partition),
    // Absent means zero: the partition began after the file before.
    sinceOffsets: ends.map((end) => known.get(partitionName(end)) ?? 0),
    untilOffsets: ends.map(({ countedBelow }) => countedBelow),
  };
  const rows = await needs.clickHouse.query(LATE_CUSTOMERS, parameters, lateRow);
  return new Map(rows.map((row) => [row.customer_key, row.first_ms]));
}

const idRow = z.object({ id: z.string() });
const keyedRow = z.object({ id: z.string(), key: z.string() });

/** The customers that these keys name; keys of unknown customers wait (docs/domain.md 7.2). */
async function findKeyed({ tx }: ReadUnit, keys: readonly string[]) {
  if (keys.length === 0) return [];
  return tx.any(sql.type(keyedRow)`
    SELECT customer.id, given.key FROM unnest(${sql.array([...keys], 'text')}) AS given (key)
    JOIN customers AS customer ON ${rowIsOfEnvironment('customer')}
      AND (given.key = 'i:' || customer.id OR given.key = 'e:' || customer.external_id)`);
}

/** Customers with a billing period that ends in the window: then its true-up is known. */
async function findEnding({ tx }: ReadUnit, { startMs, endMs }: Interval) {
  return tx.any(sql.type(idRow)`
    SELECT DISTINCT subscription.customer_id AS id
    FROM subscription_periods AS period
    JOIN subscriptions AS subscription ON subscription.id = period.subscription_id
      AND ${rowIsOfEnvironment('subscription')}
    WHERE period.period_end > ${formatInstant(startMs)}::timestamptz
      AND period.period_end <= ${formatInstant(endMs)}::timestamptz
      AND subscription.status = 'published' AND ${rowIsOfEnvironment('period')}`);
}

/** The customers whose rows the file may have, in the order of their ids. */
async function findCustomers(
  needs: ExportNeeds,
  occasion: At,
  { wanted, meters }: { readonly wanted: Wanted; readonly meters: readonly EffectiveMeter[] },
): Promise<readonly ChargedCustomer[]> {
  const { window } = wanted;
  const everybody = { kind: 'all-but', keys: [] } as const;
  const cells = cellQueriesOf({
    customers: everybody,
    queries: meters.map((meter) => eventsQuery(meter, window)),
  });
  const keys =
    cells.length === 0 ? [] : await needs.usage.listCustomerKeys(occasion.environment, cells);
  if (keys === null) throw new Error('the window has usage of more than 100000 customers');
  const late = await findLate(needs, occasion, wanted);
  return mustRead(needs, occasion, async (unit) => {
    const found = new Map<string, InstantMs | null>();
    const keyed = await findKeyed(unit, [...new Set([...keys, ...late.keys()])]);
    for (const { id } of await findEnding(unit, window)) found.set(id, null);
    for (const { id, key } of keyed) {
      const first = Math.min(late.get(key) ?? Infinity, found.get(id) ?? Infinity);
      found.set(id, first === Infinity ? null : first);
    }
    return [...found]
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([customerId, lateSince]) => ({ customerId, lateSince }));
  });
}

async function findCatalog(needs: ExportNeeds, occasion: At): Promise<Catalog> {
  const all = await findCountingMeters(needs.database, occasion.environment, null);
  return mustRead(needs, occasion, async ({ tx }) => {
    const found = await findFeaturesOfMeters(
      tx,
      all.map(({ meterId }) => meterId),
    );
    const newestFirst = [...found].reverse();
    const features = new Map(
      newestFirst.map((one) => [assertPresent(one.meter_id, 'the meter of a feature'), one]),
    );
    const groupIds = found.flatMap(({ group_id: id }) => (id === null ? [] : [id]));
    const groups = await findRecords({ tx }, GROUPS, groupIds);
    return { meters: new Map(all.map((one) => [one.meterId, one])), features, groups };
  });
}

/** The costs of one currency by source; what no source can have is under the empty one. */
function costsOf(
  figures: readonly SourceFigures[],
  { within, beyond, currency }: MeterCharge,
): ReadonlyMap<string, Decimal> {
  const costs = new Map<string, Decimal>();
  const weighed = figures.filter(({ usage }) => usage.greaterThan(ZERO));
  const isSplit = weighed.length > 0 && figures.every(({ usage }) => !usage.isNegative());
  if (isSplit) {
    const parts = allocateByWeight(new Money(within, currency), weighed, ({ usage }) => usage);
    for (const [{ source }, part] of parts) addAt(costs, source, part.value);
  } else addAt(costs, '', within);
  if (!beyond.isZero()) addAt(costs, '', beyond);
  return costs;
}

/**
 * The rows of a meter: one for each source, with its cost in the first currency; the cost in
 * further currencies, and what falls to no source, stands on rows of the empty source.
 */
function cellsOf(
  figures: readonly SourceFigures[],
  charges: readonly MeterCharge[],
): readonly Cells[] {
  const [first, ...others] = charges;
  if (first === undefined) return figures.map((one) => ({ ...one, cost: null, currency: null }));
  const { currency } = first;
  const format = (cost: Decimal, of: string): string => formatMoney(new Money(cost, of));
  const costs = costsOf(figures, first);
  const known = new Map(figures.map((one) => [one.source, one]));
  const names = [...new Set([...known.keys(), ...costs.keys()])].sort();
  const rows = names.map((source) => {
    const own = known.get(source) ?? { source, usage: ZERO, eventCount: 0 };
    // Absent means zero: the usage of the source is none.
    const cost = costs.get(source) ?? ZERO;
    return { ...own, cost: format(cost, currency), currency };
  });
  const more = others.map(({ within, beyond, currency: other }) => ({
    source: '',
    usage: ZERO,
    eventCount: 0,
    cost: format(within.plus(beyond), other),
    currency: other,
  }));
  return [...rows, ...more].filter(
    ({ eventCount, usage, cost }) => eventCount !== 0 || !usage.isZero() || Number(cost) !== 0,
  );
}

/** Of customers without a subscription. */
const NOTHING: CustomerCharges = { own: [], late: [] };

type ReadCustomer = ChargedCustomer & { readonly customer: CustomerRow };

/** The usage of some customers, in the window and before it, as far as it is not in a file yet. */
async function rowsOf(
  needs: ExportNeeds,
  occasion: At,
  of: {
    readonly customers: readonly ReadCustomer[];
    readonly wanted: Wanted;
    readonly catalog: Catalog;
    readonly fields: readonly ExportMetadataFieldDto[];
  },
): Promise<readonly Row[]> {
  const { customers, catalog, fields } = of;
  const { window, counted } = of.wanted;
  const since = counted.since?.ends ?? null;
  const charges = await readUsageCharges(needs, occasion, {
    customers,
    window,
    ends: counted.ends,
    since,
  });
  const queries = customers.flatMap((one) => {
    const { own, late } = charges.get(one.customerId) ?? NOTHING;
    const charged = [...own, ...late].map(({ meterId }) => meterId);
    const meterIds = new Set([...catalog.features.keys(), ...charged]);
    const known = [...meterIds].filter((id) => catalog.meters.has(id)).sort();
    const meters = known.map((id) => mustGet(catalog.meters, id, 'a meter'));
    const before = { startMs: one.lateSince ?? window.startMs, endMs: window.startMs };
    return (one.lateSince === null ? [] : [before])
      .concat([window])
      .flatMap((interval) => meters.map((meter) => ({ ...one, meter, interval })));
  });
  const figures = new Map(zip(queries, await addedSince(needs, occasion, { queries, counted })));
  return customers.flatMap((one) => {
    const own = queries.filter(({ customerId }) => customerId === one.customerId);
    const priced = charges.get(one.customerId) ?? NOTHING;
    const before = { startMs: one.lateSince ?? window.startMs, endMs: window.startMs };
    return [before, window].flatMap((interval) => {
      const isLate = interval === before;
      const costs = isLate ? priced.late : priced.own;
      const named = { customer: one.customer, interval, fields, catalog };
      const ofMeters = own.filter((query) => query.interval.endMs === interval.endMs);
      const rows = ofMeters.flatMap((query) => {
        const { meterId } = query.meter;
        const found = mustGet(figures, query, 'the usage of a meter');
        const charged = costs.filter((charge) => charge.meterId === meterId);
        return cellsOf(found, charged).map((cells) => usageRow(named, meterId, cells));
      });
      const ofPlans = costs.filter(({ meterId }) => meterId === '');
      const beyond = ofPlans.flatMap((charge) => cellsOf([], [charge]));
      return [...rows, ...beyond.map((cells) => usageRow(named, '', cells))];
    });
  });
}

/** The usage of the window; of what lies before it, only what came since the file before. */
async function addedSince(
  needs: ExportNeeds,
  occasion: At,
  of: {
    readonly queries: readonly FiguresQuery[];
    readonly counted: CountedWindow;
  },
): Promise<readonly (readonly SourceFigures[])[]> {
  const { queries, counted } = of;
  const now = await readFigures(needs, occasion, { queries, ends: counted.ends });
  const { since } = counted;
  if (since === null) return now;
  const latest = Math.max(...queries.map(({ interval }) => interval.endMs));
  const late = queries.filter(({ interval }) => interval.endMs < latest);
  if (late.length === 0) return now;
  const read = await readFigures(needs, occasion, { queries: late, ends: since.ends });
  const before = new Map(zip(late, read));
  return zip(queries, now).map(([query, figures]) => {
    const was = before.get(query);
    return was === undefined ? figures : addedFigures(figures, was);
  });
}

/** Usage of a window by customer, feature and source, and what came late for earlier ones. */
export async function* usagePages(
  needs: ExportNeeds,
  occasion: At,
  { fields, ...wanted }: Wanted & { readonly fields: readonly ExportMetadataFieldDto[] },
): AsyncGenerator<readonly Row[]> {
  const catalog = await findCatalog(needs, occasion);
  const meters = [...catalog.meters.values()];
  const customers = await findCustomers(needs, occasion, { wanted, meters });
  for (let at = 0; at < customers.length; at += CUSTOMERS_AT_ONCE) {
    const page = customers.slice(at, at + CUSTOMERS_AT_ONCE);
    const ids = page.map(({ customerId }) => customerId);
    const records = await mustRead(needs, occasion, ({ tx }) =>
      findRecords({ tx }, CUSTOMERS, ids),
    );
    const read = page.map((one) => ({
      ...one,
      customer: mustGet(records, one.customerId, 'a customer'),
    }));
    yield await rowsOf(needs, occasion, { customers: read, wanted, catalog, fields });
  }
}

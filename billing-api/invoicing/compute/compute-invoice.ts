import type { InstantMs } from '../../../contract/instant.js';
import type { GroupedInputs, InvoiceInputs, InvoiceResult } from '../../domain/invoice/invoice.js';
import { currentRules } from '../../domain/invoice/pricing/rules.js';
import { AssertionFailed, assertThat, mustGet, zip } from '../../../runtime/failure.js';
import type { UsageWatermark } from '../../domain/usage/watermark.js';
import type { MeterRow } from '../../declarations/catalog/meter.resource.js';
import type { Reading } from '../../records/occasion.js';
import { answerOf, isRefusal, type Refusal } from '../../records/refusal.js';
import { mustRead, type ReadUnit } from '../../records/unit.js';
import { readerBelow } from '../../usage/watermark/read-below.js';
import { usageOfOwners, type UsageReadDependencies } from '../../usage/usage-customers.js';
import { invoiceInputsOf } from './invoice-inputs.js';
import type { InvoiceQuery } from './invoice-query.js';
import {
  childrenOf,
  loadGroupedRecords,
  type BillingRecords,
  type GroupedRecords,
  type KnownRecords,
} from './load-billing-records.js';
import { readLatePeriods, withLateCorrections } from './late-query.js';
import type { LineUsageQuery } from './line-usage-query.js';
import { planInvoice, type InvoicePlan } from './plan-invoice.js';
import {
  areReadTogether,
  readLineUsage,
  type LinesQuery,
  type UsageOfLines,
} from './read-line-usage.js';

export type ComputedInvoice<Query extends InvoiceQuery> = Pick<
  BillingRecords,
  'payer' | 'usageOf' | 'metering' | 'watermark' | 'taxes'
> & {
  readonly query: Query;
  /** Everything that decided the invoice: computing it again from them gives the same bytes. */
  readonly inputs: InvoiceInputs;
  readonly invoice: InvoiceResult;
  /** The meters of its usage lines, those of grouped children too, as they were read. */
  readonly meters: readonly MeterRow[];
  /** Events received before this instant are included. */
  readonly dataUntil: InstantMs | null;
};

/** An invoice whose lines are selected. */
type Planned<Query extends InvoiceQuery> = {
  readonly query: Query;
  readonly records: GroupedRecords;
  readonly plan: InvoicePlan;
  readonly children: readonly PlannedChild[];
};

/** A grouped child whose lines are selected. */
type PlannedChild = {
  readonly query: InvoiceQuery;
  readonly records: BillingRecords;
  readonly plan: InvoicePlan;
};

/**
 * Invoices whose usage is read together. Their lines are listed only when it is their turn: those
 * of a hundred invoices with a month of minutes each would not fit in memory.
 */
function* plannedTogether<Query extends InvoiceQuery>(
  found: readonly (Found<Query> | Refusal)[],
  bucketsMax?: number,
): Generator<readonly (Planned<Query> | Refusal)[]> {
  let group: (Planned<Query> | Refusal)[] = [];
  let lines: readonly LineUsageQuery[] = [];
  for (const one of found) {
    const planned = isRefusal(one) ? one : plannedOf(one, bucketsMax);
    const own = isRefusal(planned) ? [] : partsOf(planned).flatMap(({ plan }) => plan.usage);
    if (group.length > 0 && !areReadTogether([...lines, ...own])) {
      yield group;
      group = [];
      lines = [];
    }
    group.push(planned);
    lines = [...lines, ...own];
  }
  yield group;
}

type Found<Query extends InvoiceQuery> = Pick<Planned<Query>, 'query' | 'records'>;

function plannedOf<Query extends InvoiceQuery>(
  { query, records }: Found<Query>,
  bucketsMax?: number,
): Planned<Query> | Refusal {
  const plan = planInvoice(query, records, bucketsMax);
  if (isRefusal(plan)) return plan;
  const children: PlannedChild[] = [];
  for (const [child, own] of zip(childrenOf(query), records.children)) {
    const ofChild = planInvoice(child, own, bucketsMax);
    if (isRefusal(ofChild)) return ofChild;
    children.push({ query: child, records: own, plan: ofChild });
  }
  return { query, records, plan, children };
}

/** The invoice itself and its grouped children: what is read and priced apart. */
function partsOf(planned: Planned<InvoiceQuery>): readonly PlannedChild[] {
  return [planned, ...planned.children];
}

/** The meters whose usage is read. */
function metersOf({ records, plan }: PlannedChild): readonly MeterRow[] {
  const ids = new Set(plan.usage.map(({ meter }) => meter.meterId));
  return [...ids].map((id) => mustGet(records.metering.meters, id, 'the meter of a line'));
}

/** The records of the queries that are none of them refusals, in one snapshot. */
async function findRecordsOf<Query extends InvoiceQuery>(
  unit: ReadUnit,
  queries: readonly (Query | Refusal)[],
  known?: KnownRecords,
): Promise<readonly (Found<Query> | Refusal)[]> {
  const wanted = queries.filter((query): query is Query => !isRefusal(query));
  const records = new Map(zip(wanted, await loadGroupedRecords(unit, wanted, known)));
  return queries.map((query) =>
    isRefusal(query)
      ? query
      : { query, records: mustGet(records, query, 'the records of an invoice') },
  );
}

function linesQueryOf({ query, records, plan }: PlannedChild): LinesQuery {
  const { usageOf, featureIds } = records;
  const { grouping } = query;
  return { customers: usageOfOwners(usageOf), lines: plan.usage, grouping, featureIds };
}

/** An invoice with more buckets is not computed, and a LargeInvoice thrown; any without it. */
type BucketBound = { readonly bucketsMax?: number };

/**
 * Computes invoices of subscriptions as they stand now: loads their records, selects their lines,
 * reads their usage and prices them. Nothing is stored. Records and usage are read for all of them
 * together, with as many statements as for one, unless they have very many buckets. Each comes as
 * soon as it is computed, in the order of the queries; where one cannot be computed, the reason
 * takes its place.
 *
 * Everything that comes from PostgreSQL, also what `findQueries` reads, is one snapshot: no change
 * made meanwhile is seen in one record and missed in another. The snapshot names the watermark:
 * the generations of minutes to read, and how far events count. So usage is read after it
 * (docs/internals/architecture.md 3.2).
 * @throws DependencyError when a database fails: a failure never becomes an amount.
 */
export async function* computeInvoices<Query extends InvoiceQuery>(
  dependencies: UsageReadDependencies & {
    /** Only events below these ends count; all that are counted when absent. */
    readonly below?: UsageWatermark['ends'];
  } & BucketBound,
  occasion: Reading,
  findQueries: (unit: ReadUnit) => Promise<readonly (Query | Refusal)[]>,
): AsyncGenerator<ComputedInvoice<Query> | Refusal, void> {
  // Before the watermark, which covers what was finished by then.
  const dataUntil = await dependencies.dataUntil();
  const found = await mustRead(dependencies, occasion, async (unit) =>
    findRecordsOf(unit, await findQueries(unit)),
  );
  for (const group of plannedTogether(found, dependencies.bucketsMax)) {
    const planned = group.filter((one): one is Planned<Query> => !isRefusal(one));
    const [first] = planned;
    const ends = first === undefined ? [] : first.records.watermark.ends;
    const reader = readerBelow(dependencies, dependencies.below ?? ends);
    const parts = planned.flatMap(partsOf);
    const usages = await readLineUsage(reader, occasion.environment, parts.map(linesQueryOf));
    const ofParts: UsageOfParts = new Map(zip(parts, usages));
    const below = { environment: occasion.environment, ends: dependencies.below ?? ends };
    const lateQueries = planned.flatMap(({ query: { late = [] } }) => late);
    const ofLate = await readLatePeriods(dependencies, below, lateQueries);
    for (const one of group) {
      yield isRefusal(one) ? one : pricedOf(one, { ofParts, ofLate }, dataUntil);
    }
  }
}

/** The usage of invoices and of their grouped children, or why it cannot be read. */
type UsageOfParts = ReadonlyMap<PlannedChild, UsageOfLines | Refusal>;

/** What was read for invoices, and for the late periods that they charge. */
type UsageRead = {
  readonly ofParts: UsageOfParts;
  readonly ofLate: Awaited<ReturnType<typeof readLatePeriods>>;
};

function pricedOf<Query extends InvoiceQuery>(
  planned: Planned<Query>,
  { ofParts: usages, ofLate }: UsageRead,
  dataUntil: InstantMs | null,
): ComputedInvoice<Query> | Refusal {
  const { query, records, plan } = planned;
  const children: GroupedInputs[] = [];
  for (const child of planned.children) {
    const usage = mustGet(usages, child, 'the usage of a child');
    if (isRefusal(usage)) return usage;
    const { id: subscriptionId, plan_id: planId } = child.query.loaded.subscription;
    children.push({
      subscriptionId,
      planId,
      inputs: invoiceInputsOf({ ...child, usage, late: [] }),
    });
  }
  const usage = mustGet(usages, planned, 'the usage of an invoice');
  if (isRefusal(usage)) return usage;
  const { payer, usageOf, metering, taxes } = records;
  const { late: lateQueries = [] } = query;
  const watermark = withLateCorrections(records.watermark, lateQueries);
  const late = lateQueries.map((one) => ofLate.get(one)).filter((one) => one !== undefined);
  const inputs = invoiceInputsOf({ plan, usage, query, records, children, late });
  const invoice = currentRules().priceInvoice(plan.lines, inputs);
  const meters = partsOf(planned).flatMap(metersOf);
  return { query, payer, usageOf, metering, inputs, invoice, meters, watermark, taxes, dataUntil };
}

/** As `computeInvoices`, of one subscription. */
export async function computeInvoice<Query extends InvoiceQuery>(
  dependencies: UsageReadDependencies & BucketBound,
  occasion: Reading,
  findQuery: (unit: ReadUnit) => Promise<Query>,
): Promise<ComputedInvoice<Query> | Refusal> {
  const computed = computeInvoices(dependencies, occasion, async (unit) => [
    await answerOf(() => findQuery(unit)),
  ]);
  const first = await computed.next();
  if (first.done === true) throw new AssertionFailed('an invoice was not computed');
  return first.value;
}

/**
 * Computes invoices that bill no usage inside a unit, so that they can be stored with the records
 * that they follow from. Each has the reason in its place where it cannot be computed.
 * @throws when one of them would have to read usage.
 */
export async function computeWithoutUsage<Query extends InvoiceQuery>(
  unit: ReadUnit,
  queries: readonly (Query | Refusal)[],
  known?: KnownRecords,
): Promise<readonly (ComputedInvoice<Query> | Refusal)[]> {
  const found = await findRecordsOf(unit, queries, known);
  return found.map((one) => {
    const planned = isRefusal(one) ? one : plannedOf(one);
    if (isRefusal(planned)) return planned;
    const parts = partsOf(planned);
    const isWithout = parts.every(({ plan }) => plan.usage.length === 0);
    assertThat(isWithout, 'the invoice bills no usage');
    const ofParts = new Map(parts.map((part) => [part, new Map()]));
    return pricedOf(planned, { ofParts, ofLate: new Map() }, null);
  });
}

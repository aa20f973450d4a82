import { sql } from 'slonik';
import { z } from 'zod';
import type { ClickHouse } from '../../../clickhouse/client.js';
import { queryFile } from '../../../clickhouse/query-file.js';
import type { Environment } from '../../../contract/environment.js';
import { customerKeysOf } from '../../../contract/usage-event.js';
import { groupBy } from '../../../runtime/group-by.js';
import { assertPresent, mustGet } from '../../../runtime/failure.js';
import { integerColumn } from '../../../sql/columns.js';
import { INVOICES } from '../../declarations/invoices/invoice.resource.js';
import { priceLatePeriods } from '../../domain/invoice/pricing/build-invoice.js';
import type { Late } from '../../domain/invoice/pricing/late-lines.js';
import type { PartitionEnd } from '../../domain/usage/watermark.js';
import { findRecords } from '../../records/find-record.js';
import type { JobActor, Occasion } from '../../records/occasion.js';
import {
  mustRead,
  mustWrite,
  type BillingDatabase,
  type WriteDependencies,
} from '../../records/unit.js';
import type { UsageReadDependencies } from '../../usage/usage-customers.js';
import { readCheckpoints } from '../../usage/watermark/checkpoints.js';
import { readLatePeriods } from '../compute/late-query.js';
import { inputsOfParts } from '../compute/usage-owners.js';
import { findLatePeriods } from '../drafts/late-queries.js';
import {
  correctedCustomersOf,
  findMovedCorrections,
  listEnvironmentsToLookAt,
  noteLookedAt,
} from './corrected-customers.js';
import {
  findLateInvoices,
  lateCustomersOf,
  rangesOf,
  type LateCustomer,
} from './late-candidates.js';
import { storeLateUsage, type Arrivals, type MeasuredLate } from './store-late-usage.js';
import { tellLateUsage } from './tell-late-usage.js';

/** What a look at late usage needs. */
export type LateNeeds = UsageReadDependencies &
  WriteDependencies & { readonly clickHouse: Pick<ClickHouse, 'query'> };

/** Invoices that are measured together. */
const INVOICES_TOGETHER = 50;

const SUMMARY = queryFile('summarize-late-events');

const end = z.object({ log: z.string(), partition: z.number(), countedBelow: z.number() });
const looksRow = z.object({ previous_ends: z.array(end) });
const summaryRow = z.object({
  event_name: z.string(),
  event_count: z.string().transform(Number),
  first_ms: z.string().transform(Number),
  last_ms: z.string().transform(Number),
});

const NO_ARRIVALS: Arrivals = { eventCount: 0, firstMs: null, lastMs: null };

function isPresent<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined;
}

/** When the events of each name came that an invoice does not count. */
async function findArrivals(
  { clickHouse }: LateNeeds,
  environment: Environment,
  { lines, until }: { readonly lines: readonly Late[]; readonly until: readonly PartitionEnd[] },
): Promise<(late: Late) => Arrivals> {
  const ofUsage = lines.map(({ line }) => line?.trace.usage).filter(isPresent);
  const period = assertPresent(lines[0], 'a line').period;
  const ranges = rangesOf({ since: period.countedBelow, until });
  if (ofUsage.length === 0 || ranges.logs.length === 0) return () => NO_ARRIVALS;
  const windows = lines.flatMap(({ line }) => (line === null ? [] : [line.trace.window]));
  const owners = inputsOfParts(period.inputs).flatMap(({ usageOf = [] }) => usageOf);
  const parameters = {
    ...environment,
    ...ranges,
    customers: owners.flatMap(({ customerId: id, externalId }) =>
      customerKeysOf({ id, externalId }),
    ),
    names: [...new Set(ofUsage.map(({ eventName }) => eventName))],
    fromMs: Math.min(...windows.map(({ startMs }) => startMs)),
    toMs: Math.max(...windows.map(({ endMs }) => endMs)),
  };
  const rows = await clickHouse.query(SUMMARY, parameters, summaryRow);
  const found = new Map(rows.map((row) => [row.event_name, row]));
  return ({ line }) => {
    const usage = line?.trace.usage;
    const row = isPresent(usage) ? found.get(usage.eventName) : undefined;
    if (row === undefined) return NO_ARRIVALS;
    return { eventCount: row.event_count, firstMs: row.first_ms, lastMs: row.last_ms };
  };
}

/** Measures final invoices again, and keeps what came late of them. */
async function measure(
  needs: LateNeeds,
  occasion: Occasion<JobActor>,
  {
    invoiceIds,
    until,
  }: { readonly invoiceIds: readonly string[]; readonly until: readonly PartitionEnd[] },
): Promise<void> {
  const { environment } = occasion;
  const { rows, queries } = await mustRead(needs, occasion, async (unit) => ({
    rows: await findRecords(unit, INVOICES, invoiceIds),
    queries: await findLatePeriods(unit, invoiceIds),
  }));
  const periods = await readLatePeriods(needs, { environment, ends: until }, queries);
  const bySubscription = groupBy(
    [...periods.values()],
    ({ invoiceId }) => mustGet(rows, invoiceId, 'an invoice').subscription_id,
  );
  const measured: MeasuredLate[] = [];
  for (const [, own] of bySubscription) {
    const lines = groupBy(priceLatePeriods(own), ({ period }) => period.invoiceId);
    for (const [invoiceId, late] of lines) {
      const row = mustGet(rows, invoiceId, 'an invoice');
      const arrivalsOf = await findArrivals(needs, environment, { lines: late, until });
      measured.push({
        invoiceId,
        subscriptionId: assertPresent(row.subscription_id, 'the subscription of an invoice'),
        customerId: row.customer_id,
        currency: row.currency,
        lines: late.map((one) => ({ late: one, arrivals: arrivalsOf(one) })),
      });
    }
  }
  if (measured.length === 0) return;
  await mustWrite(needs, occasion, async (unit) => {
    const changed = await storeLateUsage(unit, measured);
    tellLateUsage(unit, rows, changed);
  });
}

/** Looks at the final invoices that may not count usage of these customers as it is now. */
export async function lookAt(
  needs: LateNeeds,
  occasion: Occasion<JobActor>,
  {
    customers,
    until,
  }: { readonly customers: readonly LateCustomer[]; readonly until: readonly PartitionEnd[] },
): Promise<void> {
  const found = await mustRead(needs, occasion, (unit) => findLateInvoices(unit, customers));
  for (let from = 0; from < found.length; from += INVOICES_TOGETHER) {
    const some = found.slice(from, from + INVOICES_TOGETHER);
    await measure(needs, occasion, { invoiceIds: some.map(({ id }) => id), until });
  }
}

function readLooks({ slonik }: BillingDatabase) {
  return slonik.one(sql.type(looksRow)`SELECT previous_ends FROM late_usage_looks`);
}

function noteLook({ slonik }: BillingDatabase, until: readonly PartitionEnd[]): Promise<unknown> {
  const looked = JSON.stringify(until);
  return slonik.one(sql.type(z.unknown())`SELECT note_late_usage_look(${looked}::jsonb)`);
}

/** How many lines of late usage are not charged yet, of all environments. */
export function countOpenLateUsage({ slonik }: BillingDatabase): Promise<number> {
  const row = z.object({ count: integerColumn });
  return slonik.oneFirst(sql.type(row)`SELECT count_open_late_usage() AS count`);
}

/** Looks at the final invoices whose usage corrections change that were moved since. */
async function lookAtMoved(
  needs: LateNeeds,
  occasion: Occasion<JobActor>,
  { until, isNoted }: { readonly until: readonly PartitionEnd[]; readonly isNoted: boolean },
): Promise<void> {
  const moved = await mustRead(needs, occasion, findMovedCorrections);
  if (moved.length === 0) return;
  const numbers = moved.map(({ number }) => number);
  const pages = correctedCustomersOf(needs.clickHouse, occasion.environment, numbers);
  for await (const customers of pages) await lookAt(needs, occasion, { customers, until });
  if (isNoted) await mustWrite(needs, occasion, (unit) => noteLookedAt(unit, moved));
}

/**
 * Looks through what the log has got since the look before the last for usage of periods whose
 * invoices are final, and through the corrections that were applied or reverted since, and keeps
 * what it finds (docs/domain.md 13.8). A look that is made twice changes nothing. With an
 * environment it looks there alone, and the next look for all does too.
 */
export async function lookForLateUsage(
  needs: LateNeeds,
  {
    occasionOf,
    environment = null,
  }: {
    readonly occasionOf: (environment: Environment) => Occasion<JobActor>;
    readonly environment?: Environment | null;
  },
): Promise<void> {
  const { ends: until } = await readCheckpoints(needs.database);
  const { previous_ends: since } = await readLooks(needs.database);
  for await (const found of lateCustomersOf(needs.clickHouse, { since, until, environment })) {
    const { customers } = found;
    await lookAt(needs, occasionOf(found.environment), { customers, until });
  }
  const isNoted = environment === null;
  const corrected = isNoted ? await listEnvironmentsToLookAt(needs.database) : [environment];
  for (const one of corrected) await lookAtMoved(needs, occasionOf(one), { until, isNoted });
  if (isNoted) await noteLook(needs.database, until);
}

import { sql } from 'slonik';
import { z } from 'zod';
import { decimalOf, ZERO } from '../../../contract/number/decimal.js';
import { groupBy } from '../../../runtime/group-by.js';
import { assertPresent, mustGet } from '../../../runtime/failure.js';
import { instantColumn } from '../../../sql/columns.js';
import { findEffectiveMeters } from '../../catalog/meters/effective-meters.js';
import { INVOICES } from '../../declarations/invoices/invoice.resource.js';
import { isLimited } from '../../domain/adjustments/coupon-cadences.js';
import type { InvoiceInputs } from '../../domain/invoice/invoice.js';
import { decodeSnapshot } from '../../domain/invoice/snapshot/invoice-snapshot.js';
import type { InvoiceDocument } from '../../documents/invoice-document.js';
import { findComputations } from '../../documents/store/computations.js';
import { decodeGiven } from '../../documents/store/given-document.js';
import { readDocuments } from '../../documents/store/read-documents.js';
import { givenLateUsage } from '../../declarations/platform/late-usage-rules.js';
import { findLateUsageRules, lateUsageOf } from '../../platform/settings/late-usage.js';
import { rowIsOfEnvironment } from '../../records/conditions.js';
import { findRecords } from '../../records/find-record.js';
import type { ReadUnit } from '../../records/unit.js';
import type { InvoiceQuery } from '../compute/invoice-query.js';
import type { LateQuery } from '../compute/late-query.js';
import { inputsOfParts, usageOwnersOf, withoutLate } from '../compute/usage-owners.js';
import { storedIdsOf, type InvoiceTask } from './invoice-task.js';
import { taskOfInvoice } from './task-of-invoice.js';
import { chargedLinesOf, findLateCharges, periodNameOf, type LateCharge } from './late-charges.js';

const DAY_MS = 86_400_000;

/** Coupons that take a limited number of times, and took nothing here, are left for later ones. */
function couponsOf({ coupons }: InvoiceInputs, document: InvoiceDocument) {
  const taken = new Set(document.coupons.map(({ coupon_association_id: id }) => id));
  return coupons.filter(({ id, coupon }) => !isLimited(coupon.cadence) || taken.has(id));
}

/** Stored inputs as they are priced again, each part with whose usage it counts. */
function pricedAgain(inputs: InvoiceInputs, document: InvoiceDocument): InvoiceInputs {
  const { children, ...own } = withoutLate(inputs);
  return {
    ...own,
    usageOf: usageOwnersOf(document, inputs),
    coupons: couponsOf(inputs, document),
    ...(children === undefined
      ? {}
      : {
          children: children.map((child) => ({
            ...child,
            inputs: pricedAgain(child.inputs, document),
          })),
        }),
  };
}

/**
 * What late charges of earlier periods used of commitments, where an invoice did not know of them
 * when it was computed (docs/domain.md 11.2).
 */
function withLatePriors(
  inputs: InvoiceInputs,
  invoiceId: string,
  charges: readonly LateCharge[],
): InvoiceInputs {
  const known = new Set(inputs.priorCommitments.map((prior) => prior.invoiceId));
  const more = charges.flatMap(({ charged, period: { period } }) => {
    const { lineItemId, committed: amount } = charged;
    const isUnknown = charged.invoiceId === invoiceId || !known.has(charged.invoiceId);
    const isEarlier = period.endMs <= inputs.period.startMs;
    if (lineItemId === null || amount.isZero() || !isUnknown || !isEarlier) return [];
    return [{ invoiceId: charged.invoiceId, period, lineItemId, amount }];
  });
  return { ...inputs, priorCommitments: [...inputs.priorCommitments, ...more] };
}

/** Final invoices whose lines were computed, to be measured and priced again. */
export async function findLatePeriods(
  unit: ReadUnit,
  invoiceIds: readonly string[],
  exceptIds: readonly string[] = [],
): Promise<readonly LateQuery[]> {
  if (invoiceIds.length === 0) return [];
  const rows = await findRecords(unit, INVOICES, invoiceIds);
  const documents = await readDocuments(unit, [...rows.values()]);
  const computations = await findComputations(unit, invoiceIds);
  const subscriptionIds = documents.map(({ header }) => header.subscription_id);
  const known = subscriptionIds.filter((id) => id !== null);
  const charges = await findLateCharges(unit, known, exceptIds);
  const all = [...charges.values()].flat();
  const found = documents.flatMap((document) => {
    const { id, invoice_number: invoiceNumber } = document.header;
    const invoiceId = assertPresent(id, 'the id of a stored invoice');
    const stored = computations.get(invoiceId);
    if (stored === undefined || decodeGiven(stored.inputs) !== null) return [];
    const { inputs, watermark } = decodeSnapshot(stored.inputs);
    if (watermark === null) return [];
    const task = taskOfInvoice(mustGet(rows, invoiceId, 'an invoice'));
    const own = all.filter(({ period }) => period.subscriptionId === task.subscriptionId);
    // Absent means none: nothing was charged for the period since.
    const since = charges.get(periodNameOf(task)) ?? [];
    return [
      {
        invoiceId,
        invoiceNumber,
        countedBelow: watermark.ends,
        inputs: withLatePriors(pricedAgain(inputs, document), invoiceId, own),
        charged: [
          ...chargedLinesOf(invoiceId, document.lines),
          ...since.map(({ charged }) => charged),
        ],
        leastAmount: ZERO,
        watermark,
      },
    ];
  });
  const meterIds = found.flatMap(({ inputs }) =>
    inputsOfParts(inputs).flatMap(({ lineItems }) =>
      lineItems.flatMap(({ meter }) => (meter === null ? [] : [meter.id])),
    ),
  );
  const meters = await findEffectiveMeters(unit.tx, meterIds);
  return found.map((one) => ({ ...one, meters }));
}

const candidateRow = z.object({
  invoice_id: z.string(),
  subscription_id: z.string(),
  invoice_start: instantColumn,
  invoice_end: instantColumn,
  rules: givenLateUsage.nullable(),
  plan_rules: givenLateUsage.nullable(),
});
type CandidateRow = z.output<typeof candidateRow>;

const texts = (list: readonly string[]) => sql.array([...list], 'text');

/** Invoices of these subscriptions of which usage came late that is not charged yet. */
function findCandidates(
  { tx, environment }: ReadUnit,
  subscriptionIds: readonly string[],
  exceptIds: readonly string[],
): Promise<readonly CandidateRow[]> {
  const { tenantId, environmentId } = environment;
  return tx.any(sql.type(candidateRow)`
    SELECT DISTINCT ON (late.invoice_start, late.invoice_id) late.invoice_id, late.subscription_id, late.invoice_start, late.invoice_end,
      subscription.late_usage AS rules, plan.late_usage AS plan_rules
    FROM find_late_usage(${tenantId}, ${environmentId}, ${texts(exceptIds)}) AS late
    JOIN subscriptions AS subscription ON subscription.id = late.subscription_id
      AND ${rowIsOfEnvironment('subscription')}
    JOIN plans AS plan ON plan.id = subscription.plan_id AND ${rowIsOfEnvironment('plan')}
    WHERE late.subscription_id = ANY (${texts(subscriptionIds)})
      AND (late.amount <> late.charged_amount OR late.quantity <> late.charged_quantity)
    ORDER BY late.invoice_start, late.invoice_id`);
}

/** What late usage adds to the invoice of a task. */
export type LateOfTask = Pick<InvoiceQuery, 'late' | 'chargedLate'>;

/** Whether a task closes a period, so that its invoice may have lines of earlier ones. */
function isClosing({ reason }: InvoiceTask): boolean {
  return reason === 'SUBSCRIPTION_CYCLE';
}

/**
 * What late usage adds to invoices: the earlier periods that its policy bills, and what was charged
 * for the period of an invoice that takes the place of another (docs/domain.md 13.8).
 */
export async function findLateOfTasks(
  unit: ReadUnit,
  tasks: readonly InvoiceTask[],
): Promise<(task: InvoiceTask) => LateOfTask> {
  const closing = tasks.filter(isClosing);
  if (closing.length === 0) return () => ({});
  const ids = closing.map(({ subscriptionId }) => subscriptionId);
  const exceptIds = storedIdsOf(tasks);
  const charges = await findLateCharges(unit, ids, exceptIds);
  const candidates = await findCandidates(unit, ids, exceptIds);
  const rules = candidates.length === 0 ? null : await findLateUsageRules(unit);
  const wanted = new Map<InvoiceTask, readonly CandidateRow[]>();
  const rulesOf = ({ rules: own, plan_rules: ofPlan }: CandidateRow) =>
    lateUsageOf(assertPresent(rules, 'the rules of late usage'), [own, ofPlan]);
  for (const task of closing) {
    const { startMs, endMs } = task.period;
    const own = candidates.filter((row) => {
      const { policy, max_age_days: days } = rulesOf(row);
      const isEarlier = row.subscription_id === task.subscriptionId && row.invoice_end <= startMs;
      return isEarlier && policy === 'bill' && row.invoice_end >= endMs - days * DAY_MS;
    });
    wanted.set(task, own);
  }
  const rows = [...wanted.values()].flat();
  const byId = groupBy(rows, (row) => row.invoice_id);
  const found = await findLatePeriods(unit, [...byId.keys()], exceptIds);
  const periods = new Map(found.map((query) => [query.invoiceId, query]));
  return (task) => {
    // Absent means none: its invoice closes no period.
    const late = (wanted.get(task) ?? []).flatMap((row) => {
      const query = periods.get(row.invoice_id);
      if (query === undefined) return [];
      return [{ ...query, leastAmount: decimalOf(rulesOf(row).least_amount) }];
    });
    const chargedLate = charges.get(periodNameOf(task))?.map(({ charged, lateInvoiceId }) => ({
      ...charged,
      invoiceId: lateInvoiceId,
    }));
    return {
      ...(late.length === 0 ? {} : { late }),
      ...(chargedLate === undefined ? {} : { chargedLate }),
    };
  };
}

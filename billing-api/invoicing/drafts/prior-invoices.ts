import { sql } from 'slonik';
import { z } from 'zod';
import { decimalOf, ZERO } from '../../../contract/number/decimal.js';
import { formatInstant, type InstantMs, type Interval } from '../../../contract/instant.js';
import { assertPresent } from '../../../runtime/failure.js';
import { groupBy, sumBy } from '../../../runtime/group-by.js';
import { instantColumn, integerColumn, numericColumn } from '../../../sql/columns.js';
import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';
import type { InvoicedLine, PriorCommitment } from '../../domain/invoice/invoice.js';
import { rowIsIn, rowIsOfEnvironment } from '../../records/conditions.js';
import { Refusal, Refused } from '../../records/refusal.js';
import type { StatementUnit } from '../../records/unit.js';
import type { ChargedSegment, InvoicePurpose } from '../compute/invoice-purpose.js';

/** What other invoices of a subscription have taken already. */
export type PriorInvoices = Pick<
  InvoicePurpose,
  'alreadyInvoiced' | 'priorCommitments' | 'couponApplicationCounts' | 'segmentsBefore'
>;

/** Whose invoices are read, and which of them. */
export type PriorQuery = {
  readonly subscriptionIds: readonly string[];
  /** Invoices that are computed now: what they took before does not count. */
  readonly exceptIds: readonly string[];
  /** Of lines that ended at this instant or earlier, only those of ONETIME charges are wanted. */
  readonly since: InstantMs;
};

const lineRow = z.object({
  subscription_id: z.string(),
  invoice_id: z.string(),
  subscription_line_item_id: z.string(),
  price_id: z.string().nullable(),
  period_start: instantColumn,
  period_end: instantColumn,
  committed_amount: numericColumn.nullable(),
  invoice_start: instantColumn,
  invoice_end: instantColumn,
  amount: numericColumn,
  price_type: z.string(),
  billing_reason: z.string(),
  /** Of late usage: it charges a period beside the invoice of that period (docs/domain.md 13.8). */
  late_invoice_id: z.string().nullable(),
});
type LineRow = z.output<typeof lineRow>;

const countRow = z.object({
  subscription_id: z.string(),
  coupon_association_id: z.string(),
  invoice_start: instantColumn.nullable(),
  billing_reason: z.string(),
  application_count: integerColumn,
});

type CountRow = z.output<typeof countRow>;

const texts = (list: readonly string[]) => sql.array([...list], 'text');

/** The subscription of a line: of the invoice, or the grouped child that it belongs to (29.2). */
const OF_LINE = sql.fragment`coalesce(line.subscription_id, invoice.subscription_id)`;

/** Invoices of the subscriptions, and those that have lines of them as grouped children. */
function isOfThem(subscriptionIds: readonly string[]) {
  const ids = texts(subscriptionIds);
  return sql.fragment`invoice.id IN (
      SELECT own.id FROM invoices AS own
      WHERE own.subscription_id = ANY (${ids}) AND ${rowIsOfEnvironment('own')}
      UNION SELECT child.invoice_id FROM invoice_line_items AS child
      WHERE child.subscription_id = ANY (${ids}) AND ${rowIsOfEnvironment('child')})`;
}

/** Invoices that count for later ones (docs/domain.md 13.5, 14.4). */
function isCounted({ subscriptionIds, exceptIds }: PriorQuery) {
  return sql.fragment`${isOfThem(subscriptionIds)}
    AND invoice.id <> ALL (${texts(exceptIds)})
    AND ${rowIsIn(['invoice', 'invoice_status'], INVOICE, 'counted')}`;
}

/**
 * What a line has used of a commitment. Invoices from before a factor of 1 with true-up had an
 * effect do not say so: all of the usage was within it (docs/domain.md 11.1).
 */
const COMMITTED = sql.fragment`CASE
  WHEN line.committed_amount IS NULL AND line.price_type = 'USAGE' THEN (
    SELECT line.amount FROM subscriptions AS minimum
    WHERE minimum.id = ${OF_LINE} AND minimum.overage_factor = 1 AND minimum.enable_true_up
      AND minimum.commitment_amount > 0 AND ${rowIsOfEnvironment('minimum')})
  ELSE line.committed_amount END`;

/** What is read of an invoiced line, beside whose it is. */
const COLUMNS = sql.fragment`line.invoice_id, line.subscription_line_item_id, line.price_id,
  line.period_start, line.period_end, ${COMMITTED} AS committed_amount, line.amount, line.price_type,
  invoice.billing_reason, line.late_invoice_id,
  CASE WHEN line.late_invoice_id IS NOT NULL THEN line.period_start
    WHEN line.subscription_id IS NULL THEN invoice.period_start
    ELSE least(invoice.period_start, line.period_start) END AS invoice_start,
  CASE WHEN line.late_invoice_id IS NOT NULL THEN line.period_end
    ELSE invoice.period_end END AS invoice_end, line.position`;

/**
 * Lines of the subscriptions in whose place these have come, as far as they have used the
 * commitment that goes on (docs/domain.md 11.2).
 */
function committedBefore({ subscriptionIds, exceptIds }: PriorQuery, since: string) {
  return sql.fragment`
    SELECT heir.id AS subscription_id, ${COLUMNS}
    FROM subscriptions AS heir
    JOIN subscriptions AS before ON before.id <> heir.id AND before.start_date <= heir.start_date
      AND (before.id = heir.commitment_origin_id
        OR before.commitment_origin_id = heir.commitment_origin_id) AND ${rowIsOfEnvironment('before')}
    CROSS JOIN LATERAL (
      SELECT own.id FROM invoices AS own
      WHERE own.subscription_id = before.id AND ${rowIsOfEnvironment('own')}
      UNION SELECT child.invoice_id FROM invoice_line_items AS child
      WHERE child.subscription_id = before.id AND ${rowIsOfEnvironment('child')}) AS billed
    JOIN invoices AS invoice ON invoice.id = billed.id AND ${rowIsOfEnvironment('invoice')}
    JOIN invoice_line_items AS line ON line.invoice_id = invoice.id AND ${rowIsOfEnvironment('line')}
    WHERE heir.id = ANY (${texts(subscriptionIds)}) AND heir.commitment_origin_id IS NOT NULL
      AND ${rowIsOfEnvironment('heir')} AND ${OF_LINE} = before.id AND line.committed_amount IS NOT NULL
      AND line.subscription_line_item_id IS NOT NULL AND invoice.period_start IS NOT NULL
      AND invoice.id <> ALL (${texts(exceptIds)})
      AND ${rowIsIn(['invoice', 'invoice_status'], INVOICE, 'counted')}
      AND invoice.period_end > ${since}::timestamptz`;
}

function findLines({ tx }: StatementUnit, query: PriorQuery): Promise<readonly LineRow[]> {
  const since = formatInstant(query.since);
  return tx.any(sql.type(lineRow)`
    SELECT ${OF_LINE} AS subscription_id, ${COLUMNS}
    FROM invoices AS invoice
    JOIN invoice_line_items AS line ON line.invoice_id = invoice.id AND ${rowIsOfEnvironment('line')}
    WHERE ${isCounted(query)} AND ${rowIsOfEnvironment('invoice')}
      AND ${OF_LINE} = ANY (${texts(query.subscriptionIds)})
      AND line.subscription_line_item_id IS NOT NULL
      AND line.period_start IS NOT NULL AND invoice.period_start IS NOT NULL
      AND (line.period_end > ${since}::timestamptz OR line.period_end = line.period_start
        OR (line.committed_amount IS NOT NULL AND invoice.period_end > ${since}::timestamptz))
    UNION ALL ${committedBefore(query, since)}
    ORDER BY invoice_start, invoice_id, position`);
}

function findCouponCounts({ tx }: StatementUnit, query: PriorQuery) {
  return tx.any(sql.type(countRow)`
    SELECT coupon.subscription_id, coupon.coupon_association_id,
      invoice.period_start AS invoice_start, invoice.billing_reason, count(*) AS application_count
    FROM invoices AS invoice
    JOIN coupon_applications AS coupon
      ON coupon.invoice_id = invoice.id AND ${rowIsOfEnvironment('coupon')}
    WHERE ${isCounted(query)} AND ${rowIsOfEnvironment('invoice')}
      AND coupon.coupon_association_id IS NOT NULL AND invoice.invoice_type = 'SUBSCRIPTION'
      AND coupon.subscription_id = ANY (${texts(query.subscriptionIds)})
    GROUP BY coupon.subscription_id, coupon.coupon_association_id, invoice.period_start,
      invoice.billing_reason`);
}

/** Whether it has usage of a period that threshold invoices split (docs/domain.md 30.1). */
function isOfSegment(row: LineRow): boolean {
  if (row.price_type !== 'USAGE') return false;
  return row.billing_reason === 'AUTO_INVOICE_THRESHOLD' || row.period_start < row.invoice_start;
}

/** What threshold invoices charged for usage, each until the end of its part of a period. */
function segmentOf(row: LineRow): readonly ChargedSegment[] {
  if (row.billing_reason !== 'AUTO_INVOICE_THRESHOLD' || row.price_type !== 'USAGE') return [];
  const { invoice_id: invoiceId, subscription_line_item_id: lineItemId } = row;
  const amount = decimalOf(row.amount);
  return [{ segment: { invoiceId, lineItemId, amount }, period: periodOf(row) }];
}

function periodOf({ period_start: startMs, invoice_end: endMs }: LineRow): Interval {
  return { startMs, endMs };
}

function invoicedLineOf(row: LineRow): InvoicedLine {
  return {
    ...(isOfSegment(row) ? { isOfSegment: true } : {}),
    invoiceId: row.invoice_id,
    lineItemId: row.subscription_line_item_id,
    priceId: assertPresent(row.price_id, 'the price of a line item'),
    period: { startMs: row.period_start, endMs: row.period_end },
  };
}

function priorCommitmentsOf(row: LineRow): readonly PriorCommitment[] {
  if (row.committed_amount === null) return [];
  return [
    {
      invoiceId: row.invoice_id,
      period: { startMs: row.invoice_start, endMs: row.invoice_end },
      lineItemId: row.subscription_line_item_id,
      amount: decimalOf(row.committed_amount),
    },
  ];
}

/** What was invoiced of a subscription, as rows. */
type PriorRows = { readonly lines: readonly LineRow[]; readonly counts: readonly CountRow[] };

async function findPriorRows(
  unit: StatementUnit,
  query: PriorQuery,
): Promise<(subscriptionId: string) => PriorRows> {
  const lines = groupBy(await findLines(unit, query), (row) => row.subscription_id);
  const counts = groupBy(await findCouponCounts(unit, query), (row) => row.subscription_id);
  // Absent means none: the subscription has no such line, or no coupon of it was applied.
  return (id) => ({ lines: lines.get(id) ?? [], counts: counts.get(id) ?? [] });
}

/**
 * Stops where two invoices charge one line item for the same time, which nothing here can make: no
 * more is billed until one of them is voided (docs/domain.md 13.5).
 */
function refuseDoubled(lines: readonly LineRow[]): void {
  const charges = lines.filter(
    (row) =>
      row.price_type === 'FIXED' &&
      row.period_start < row.period_end &&
      decimalOf(row.amount).greaterThan(ZERO),
  );
  const invoiceOf = new Map<string, string>();
  for (const row of charges) {
    const { subscription_line_item_id: id, period_start: start, period_end: end } = row;
    const charge = `${id} ${row.price_id} ${start} ${end}`;
    const first = invoiceOf.get(charge) ?? row.invoice_id;
    if (first !== row.invoice_id) {
      const period = `${formatInstant(start)} – ${formatInstant(end)}`;
      const twice = `the invoices ${first} and ${row.invoice_id} both charge the line item ${id}`;
      const problem = `${twice} for ${period}; void one of them`;
      throw new Refused(new Refusal('invalid_operation', problem));
    }
    invoiceOf.set(charge, first);
  }
}

function priorOf({ lines: all, counts }: PriorRows): Required<PriorInvoices> {
  const lines = all.filter(({ late_invoice_id: lateId }) => lateId === null);
  refuseDoubled(lines);
  return {
    alreadyInvoiced: lines.map(invoicedLineOf),
    priorCommitments: all.flatMap(priorCommitmentsOf),
    segmentsBefore: lines.flatMap(segmentOf),
    couponApplicationCounts: sumBy(
      counts,
      (row) => row.coupon_association_id,
      (row) => row.application_count,
    ),
  };
}

/** Nothing was invoiced. */
export const NO_PRIOR_INVOICES: PriorInvoices = priorOf({ lines: [], counts: [] });

/**
 * What the drafts and finalized invoices of these subscriptions have taken: lines, parts of
 * commitments, and applications of coupons, by subscription. Two statements for all of them.
 */
export async function findPriorInvoices(
  unit: StatementUnit,
  query: PriorQuery,
): Promise<(subscriptionId: string) => PriorInvoices> {
  const rowsOf = await findPriorRows(unit, query);
  return (id) => priorOf(rowsOf(id));
}

/** A look at a period of a subscription. */
export type PeriodLook = {
  /** The start of the billing period that is looked at. */
  readonly before: InstantMs;
  /** As in `PriorQuery`, for this subscription alone. */
  readonly since: InstantMs;
};

/** Whether an invoice is earlier than the cycle invoice of a period that begins at an instant. */
function isEarlier(
  row: { readonly invoice_start: InstantMs | null; readonly billing_reason: string },
  before: InstantMs,
): boolean {
  const { invoice_start: start, billing_reason: reason } = row;
  if (start === null || start < before) return true;
  return start === before && reason !== 'SUBSCRIPTION_CYCLE';
}

/**
 * What the invoices before a period have taken. It depends on the subscription and its period
 * alone, whatever is read beside it.
 */
export async function findEarlierInvoices(
  unit: StatementUnit,
  query: Omit<PriorQuery, 'exceptIds'>,
): Promise<
  (
    subscriptionId: string,
    look: PeriodLook,
  ) => Pick<PriorInvoices, 'priorCommitments' | 'couponApplicationCounts' | 'segmentsBefore'>
> {
  const rowsOf = await findPriorRows(unit, { ...query, exceptIds: [] });
  return (id, { before, since }) => {
    const { lines, counts } = rowsOf(id);
    const earlier = {
      lines: lines.filter((row) => row.invoice_end > since && isEarlier(row, before)),
      counts: counts.filter((row) => isEarlier(row, before)),
    };
    const { priorCommitments, couponApplicationCounts, segmentsBefore } = priorOf(earlier);
    return { priorCommitments, couponApplicationCounts, segmentsBefore };
  };
}

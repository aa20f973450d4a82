import { sql, type FragmentSqlToken } from 'slonik';
import { z } from 'zod';
import { addAt, decimalOf, plain, sumOf, type Decimal } from '../../../contract/number/decimal.js';
import { formatInstant, type Interval } from '../../../contract/instant.js';
import { noRows, numericColumn } from '../../../sql/columns.js';
import { UNUSED_TIME } from '../../declarations/money/credit-note.resource.js';
import { CREDIT_NOTE, INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';
import { CURRENT_ENVIRONMENT, rowIsIn, rowIsOfEnvironment } from '../../records/conditions.js';
import type { StatementUnit, Unit } from '../../records/unit.js';

/** How unused time of a line of an invoice was given back. */
const WAYS = [
  /** By a note that has lowered what the invoice leaves to be paid. */
  'owed',
  /** By a note, to a wallet; or to a wallet without one, by an earlier release. */
  'wallet',
  /** By a negative line of another invoice. */
  'set_off',
  /** By a negative line of the same invoice, which is lower by it. */
  'own',
] as const;

/**
 * Credits for unused time, each by the line of an invoice that it gives back: `line_id`, the line
 * item and the time that it is of, `net`, `tax` and its `way`. What a voided invoice had set off
 * went to a wallet.
 * @param lines the ids of lines, as a query.
 */
export const creditsOf = (lines: FragmentSqlToken) => sql.fragment`
  SELECT noted.invoice_line_item_id AS line_id, noted.subscription_line_item_id AS line_item_id,
    noted.period_start, noted.period_end, noted.net_amount AS net, noted.tax_amount AS tax,
    note.id AS note_id, CASE note.credit_note_type WHEN 'REFUND' THEN 'wallet' ELSE 'owed' END AS way
  FROM credit_note_lines AS noted
  JOIN credit_notes AS note ON note.id = noted.credit_note_id AND ${rowIsOfEnvironment('note')}
  WHERE noted.invoice_line_item_id IN (${lines}) AND note.reason = ${UNUSED_TIME}
    AND ${rowIsIn(['note', 'credit_note_status'], CREDIT_NOTE, 'counted')} AND ${rowIsOfEnvironment('noted')}
  UNION ALL
  SELECT given.invoice_line_item_id, given.subscription_line_item_id, given.period_start, given.period_end,
    given.net_amount, given.tax_amount, NULL,
    CASE WHEN given.credit_line_id IS NULL THEN 'wallet' WHEN given.is_own THEN 'own' ELSE 'set_off' END
  FROM credited_charges AS given
  LEFT JOIN invoice_line_items AS off ON off.id = given.credit_line_id AND ${rowIsOfEnvironment('off')}
  LEFT JOIN invoices AS other ON other.id = off.invoice_id AND ${rowIsOfEnvironment('other')}
  WHERE given.invoice_line_item_id IN (${lines}) AND ${rowIsOfEnvironment('given')}
    AND (given.credit_line_id IS NULL OR ${rowIsIn(['other', 'invoice_status'], INVOICE, 'counted')}
      OR other.finalized_at IS NOT NULL)`;

const amount = numericColumn.transform(decimalOf);
const creditRow = z.object({
  line_id: z.string(),
  net: amount,
  tax: amount,
  note_id: z.string().nullable(),
  way: z.enum(WAYS),
});

/** What credits for unused time have given back of a line of an invoice. */
export type LineCredit = z.output<typeof creditRow>;

/** What credits for unused time have given back of the lines of invoices. */
export function findLineCredits(
  { tx }: StatementUnit,
  invoiceIds: readonly string[],
): Promise<readonly LineCredit[]> {
  return tx.any(sql.type(creditRow)`
    SELECT credit.line_id, credit.net, credit.tax, credit.note_id, credit.way
    FROM (${creditsOf(sql.fragment`SELECT line.id FROM invoice_line_items AS line
      WHERE line.invoice_id = ANY (${sql.array([...invoiceIds], 'text')}) AND ${rowIsOfEnvironment('line')}`)}) AS credit
    ORDER BY credit.line_id, credit.way`);
}

/** Sums of credits by the ids of the lines; lines without a credit are left out. */
export function sumsByLine(
  credits: readonly LineCredit[],
  amountOf: (credit: LineCredit) => Decimal,
): ReadonlyMap<string, Decimal> {
  const sums = new Map<string, Decimal>();
  for (const credit of credits) addAt(sums, credit.line_id, amountOf(credit));
  return sums;
}

/**
 * What credits for unused time have given back of an invoice beside what it leaves to be paid: to
 * wallets, and on other invoices; with taxes.
 */
export function givenElsewhere(credits: readonly LineCredit[]): Decimal {
  const elsewhere = credits.filter(({ way }) => way === 'wallet' || way === 'set_off');
  return sumOf(elsewhere.map(({ net, tax }) => net.plus(tax)));
}

/** What a negative line of an invoice gives back of a line. */
export type CreditedCharge = {
  readonly creditLineId: string;
  /** Whether both are lines of one invoice. */
  readonly isOwn: boolean;
  readonly lineId: string;
  readonly lineItemId: string;
  readonly period: Interval;
  readonly net: Decimal;
  readonly tax: Decimal;
};

/** Keeps which lines negative lines of invoices give back. */
export async function storeCreditedCharges(
  { tx }: Unit,
  charges: readonly CreditedCharge[],
): Promise<void> {
  if (charges.length === 0) return;
  const rows = charges.map(({ creditLineId, isOwn, lineId, lineItemId, period, net, tax }) => [
    creditLineId,
    isOwn,
    lineId,
    lineItemId,
    formatInstant(period.startMs),
    formatInstant(period.endMs),
    plain(net),
    plain(tax),
  ]);
  const types = [
    'text',
    'bool',
    'text',
    'text',
    'timestamptz',
    'timestamptz',
    'numeric',
    'numeric',
  ];
  await tx.query(sql.type(noRows)`
    INSERT INTO credited_charges (tenant_id, environment_id, credit_line_id, is_own, invoice_line_item_id,
      subscription_line_item_id, period_start, period_end, net_amount, tax_amount)
    SELECT ${CURRENT_ENVIRONMENT}, given.* FROM ${sql.unnest(rows, types)} AS given`);
}

/** The taxes of what the negative lines of the row `invoice` have taken off it. */
export const TAX_SET_OFF = sql.fragment`
  (SELECT coalesce(sum(taken.tax_amount), 0) FROM credited_charges AS taken
    JOIN invoice_line_items AS off ON off.id = taken.credit_line_id AND ${rowIsOfEnvironment('off')}
    WHERE off.invoice_id = invoice.id AND off.kind = 'credit' AND ${rowIsOfEnvironment('taken')})`;

const sumRow = z.object({ amount });

/** The taxes of what the negative lines of an invoice have taken off it. */
export async function findTaxSetOff({ tx }: StatementUnit, invoiceId: string): Promise<Decimal> {
  const row = await tx.one(sql.type(sumRow)`
    SELECT ${TAX_SET_OFF} AS amount FROM invoices AS invoice
    WHERE id = ${invoiceId} AND ${rowIsOfEnvironment('invoice')}`);
  return row.amount;
}

/** What an invoice has set off of others, which its customer has paid, with taxes. */
export async function findSetOff({ tx }: StatementUnit, invoiceId: string): Promise<Decimal> {
  const row = await tx.one(sql.type(sumRow)`
    SELECT coalesce(sum(coalesce(of_line.tax, 0) - line.amount), 0) AS amount
    FROM invoice_line_items AS line
    LEFT JOIN LATERAL (SELECT sum(given.tax_amount) AS tax, bool_or(given.is_own) AS is_own
      FROM credited_charges AS given
      WHERE given.credit_line_id = line.id AND ${rowIsOfEnvironment('given')}) AS of_line ON true
    WHERE line.invoice_id = ${invoiceId} AND line.kind = 'credit' AND of_line.is_own IS NOT TRUE
      AND ${rowIsOfEnvironment('line')}`);
  return row.amount;
}

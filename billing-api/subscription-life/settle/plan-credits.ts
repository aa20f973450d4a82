import { sql } from 'slonik';
import { ZERO, type Decimal } from '../../../contract/number/decimal.js';
import { assertPresent, mustGet } from '../../../runtime/failure.js';
import { groupBy } from '../../../runtime/group-by.js';
import { INVOICES, type InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';
import { isIn } from '../../domain/lifecycle/lifecycle.js';
import {
  divideByOwed,
  withTaxes,
  type TaxedInvoice,
  type TaxedPart,
} from '../../domain/settlement/credit-taxes.js';
import { findLineCredits, sumsByLine } from '../../documents/store/credited-lines.js';
import { isOfEnvironment } from '../../records/conditions.js';
import type { ReadUnit } from '../../records/unit.js';
import type { CreditedLine } from './credit-lines.js';
import { findNotedLines, notesWithoutTaxes, type NotedLine } from './refunded-lines.js';

/** What is given back of a line of an invoice, with its taxes. */
export type PlannedLine = Omit<CreditedLine, 'amount'> & TaxedPart;

/** What is given back of an invoice for unused time. */
export type PlannedCredit = {
  readonly invoice: InvoiceRow;
  /** What lowers the invoice: all of it where that is a draft. */
  readonly owed: readonly PlannedLine[];
  /** What is beyond what it leaves to be paid. */
  readonly rest: readonly PlannedLine[];
};

/** Invoices that have taxes, with what was given back of their lines. */
async function findTaxed(
  unit: ReadUnit,
  invoices: readonly InvoiceRow[],
): Promise<ReadonlyMap<string, TaxedInvoice>> {
  const ids = invoices.filter((row) => !row.total_tax.isZero()).map(({ id }) => id);
  if (ids.length === 0) return new Map();
  const rows = await findNotedLines(unit, ids);
  const credits = await findLineCredits(unit, ids);
  const nets = sumsByLine(credits, ({ net }) => net);
  const taxes = sumsByLine(credits, ({ tax }) => tax);
  const ofInvoice = (lines: readonly NotedLine[]): TaxedInvoice => {
    const { currency, tax, refunded } = assertPresent(lines[0], 'a line of an invoice');
    const noteOf = notesWithoutTaxes(lines);
    // Absent means zero: nothing of the line was given back for unused time.
    const of = (sums: ReadonlyMap<string, Decimal>, id: string) => sums.get(id) ?? ZERO;
    const given = lines.map((line) => {
      const { line_id: lineId, net, noted } = line;
      const unused = of(nets, lineId);
      const takenNet = noteOf(line).plus(unused);
      return { lineId, net, takenNet, taken: noted.plus(unused).plus(of(taxes, lineId)) };
    });
    return { currency, tax, refunded, lines: given };
  };
  const byInvoice = groupBy(rows, ({ invoice_id: id }) => id);
  return new Map([...byInvoice].map(([id, lines]) => [id, ofInvoice(lines)]));
}

/**
 * Adds the taxes to what is given back of lines of invoices, and divides it by what these leave to
 * be paid (docs/domain.md 23.1). Nothing is stored.
 */
export async function planCredits(
  unit: ReadUnit,
  credits: readonly CreditedLine[],
): Promise<readonly PlannedCredit[]> {
  if (credits.length === 0) return [];
  const byInvoice = groupBy(credits, ({ invoiceId }) => invoiceId);
  const invoices = await unit.tx.any(sql.type(INVOICES.row)`
    SELECT * FROM invoices
    WHERE id = ANY (${sql.array([...byInvoice.keys()], 'text')}) AND ${isOfEnvironment} ORDER BY id`);
  const taxedOf = await findTaxed(unit, invoices);
  return invoices.map((invoice) => {
    const { id, currency, amount_remaining: remaining } = invoice;
    const own = mustGet(byInvoice, id, 'what is given back of an invoice');
    const untaxed = { currency, tax: ZERO, refunded: ZERO, lines: [] };
    // Absent means that there are none.
    const parts = withTaxes(taxedOf.get(id) ?? untaxed, own);
    const lines = own.map(({ amount: _, ...line }, index): PlannedLine => {
      const { net, tax } = assertPresent(parts[index], 'its taxes');
      return { ...line, net, tax };
    });
    if (isIn(INVOICE, 'draft', invoice.invoice_status)) return { invoice, owed: lines, rest: [] };
    const { within, beyond } = divideByOwed(lines, remaining, currency);
    return { invoice, owed: within, rest: beyond };
  });
}

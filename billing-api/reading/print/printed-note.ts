import { sumOf } from '../../../contract/number/decimal.js';
import type { CreditNote } from '../../declarations/money/credit-note.resource.js';
import { localDateText } from '../../domain/calendar/local-time.js';
import { formatMoney, Money } from '../../domain/money/money.js';
import type { InvoiceHeader } from '../../documents/invoice-document.js';
import { partiesOf, zoneOf, type PrintedPage, type Seller } from './printed-invoice.js';

const NOTICES: Readonly<Record<CreditNote['row']['credit_note_status'], string | null>> = {
  DRAFT: 'DRAFT: nothing is credited yet',
  FINALIZED: null,
  VOIDED: 'VOIDED: nothing is credited',
};

const EFFECTS = {
  ADJUSTMENT: 'The amount is taken off what is to be paid of the invoice.',
  REFUND: 'The amount is given back to a wallet of the customer.',
} as const;

/** What is credited, and for which time where it has one. */
function nameOf(
  { display_name: name, period_start: startMs, period_end: endMs }: CreditNote['lines'][number],
  zone: string,
): string {
  if (startMs === null || endMs === null) return name;
  return `${name}, ${localDateText(startMs, zone)} – ${localDateText(endMs, zone)}`;
}

/** What is printed of a credit note, with the parties of its invoice as they were. */
export function printedNote(
  { row, lines }: CreditNote,
  invoice: InvoiceHeader,
  seller: Seller,
): PrintedPage {
  const zone = zoneOf(invoice, seller);
  const { currency, finalized_at: at, memo } = row;
  const money = (amount: CreditNote['row']['total_amount']): string =>
    formatMoney(new Money(amount, currency));
  const blank = { quantity: '', unit: '' };
  // A note that somebody wrote does not say what of it are taxes.
  const taxes = sumOf(lines.flatMap(({ tax_amount: tax }) => (tax === null ? [] : [tax])));
  const issued = at === null ? [] : [['Issued', localDateText(at, zone)] as const];
  return {
    title: 'Credit note',
    name: `Credit note ${row.credit_note_number}`,
    notice: NOTICES[row.credit_note_status],
    ...partiesOf(invoice, seller),
    facts: [
      ['Number', row.credit_note_number],
      ...issued,
      ['Invoice', invoice.invoice_number ?? row.invoice_id],
      ['Time zone', zone],
      ['Currency', currency.toUpperCase()],
    ],
    amountTitle: `Amount ${currency.toUpperCase()}`,
    rows: [
      ...lines.map((line) => ({
        kind: 'line' as const,
        name: nameOf(line, zone),
        ...blank,
        amount: money(line.net_amount ?? line.amount),
      })),
      ...(taxes.isZero()
        ? []
        : [{ kind: 'line' as const, name: 'Taxes', ...blank, amount: money(taxes) }]),
      { kind: 'total', name: 'Total', ...blank, amount: money(row.total_amount) },
    ],
    notes: [...(memo === null ? [] : [memo]), EFFECTS[row.credit_note_type], `Id ${row.id}`],
    madeAt: at ?? row.created_at,
  };
}

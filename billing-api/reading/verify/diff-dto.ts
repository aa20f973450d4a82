import { plain } from '../../../contract/number/decimal.js';
import { formatMoney, Money } from '../../domain/money/money.js';
import type { DecimalText } from '../../records/record-dto.js';
import type { InvoiceDocument } from '../../documents/invoice-document.js';
import type { InvoiceDiff } from './diff-invoice.js';
import type { LineDiff } from './diff-lines.js';

/** What has changed among the inputs. */
export type DiffCauseDto =
  'usage' | 'price' | 'meter' | 'entitlement' | 'commitment' | 'coupon' | 'tax' | 'period';

export interface LineDiffDto {
  change: 'same' | 'changed' | 'added' | 'removed';
  display_name: string;
  quantity_from: DecimalText | null;
  quantity_to: DecimalText | null;
  amount_from: DecimalText | null;
  amount_to: DecimalText | null;
  causes: DiffCauseDto[];
}

/** The totals of the two. */
export interface DiffTotalsDto {
  from: DecimalText;
  to: DecimalText;
}

export interface InvoiceDiffDto {
  from: string | null;
  /** Null for what a draft would compute to now. */
  to: string | null;
  lines: LineDiffDto[];
  totals: DiffTotalsDto;
  /** Why the totals differ beside the lines. */
  causes: DiffCauseDto[];
}

function lineToDto({ change, displayName, from, to, causes }: LineDiff, currency: string) {
  const amount = (line: LineDiff['from']): string | null =>
    line === null ? null : formatMoney(new Money(line.amount, currency));
  const quantity = (line: LineDiff['from']): string | null =>
    line === null ? null : plain(line.quantity);
  return {
    change,
    display_name: displayName,
    quantity_from: quantity(from),
    quantity_to: quantity(to),
    amount_from: amount(from),
    amount_to: amount(to),
    causes: [...causes],
  };
}

const totalOf = ({ header }: InvoiceDocument): string =>
  formatMoney(new Money(header.total, header.currency));

export function invoiceDiffToDto({ from, to, lines, causes }: InvoiceDiff): InvoiceDiffDto {
  return {
    from: from.header.id,
    to: to.header.id,
    lines: lines.map((line) => lineToDto(line, from.header.currency)),
    totals: { from: totalOf(from), to: totalOf(to) },
    causes: [...causes],
  };
}

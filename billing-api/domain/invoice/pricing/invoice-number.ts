import type { InstantMs } from '../../../../contract/instant.js';
import { localDateTimeAt } from '../../calendar/local-time.js';

/** How invoices are numbered (docs/domain.md 16). */
export type NumberScheme = {
  readonly prefix: string;
  readonly format: 'YYYYMM' | 'YYYYMMDD' | 'YYMMDD' | 'YY' | 'YYYY';
  /** The date of a number is that of the finalization in this zone. */
  readonly timezone: string;
  readonly separator: string;
  /** Digits of the counter at least; a longer one is not cut. */
  readonly suffix_length: number;
};

/** Characters of `2025-01-31` by which each format writes a date. */
const DATE_PARTS = {
  YYYYMM: [0, 4, 5, 7],
  YYYYMMDD: [0, 4, 5, 7, 8, 10],
  YYMMDD: [2, 4, 5, 7, 8, 10],
  YY: [2, 4],
  YYYY: [0, 4],
} as const satisfies Readonly<Record<NumberScheme['format'], readonly number[]>>;

function dateText(date: string, parts: readonly number[]): string {
  return parts.length === 0 ? '' : date.slice(parts[0], parts[1]) + dateText(date, parts.slice(2));
}

/**
 * Everything that stands before the counter: `INV-202501-`. Invoices with the same text are one
 * series, which counts for itself, so that a change of the setting leaves no gap in any.
 */
export function numberSeries(scheme: NumberScheme, finalizedAt: InstantMs): string {
  const { prefix, separator, timezone, format } = scheme;
  const date = localDateTimeAt(finalizedAt, timezone).toPlainDate().toString();
  return [prefix, dateText(date, DATE_PARTS[format]), ''].join(separator);
}

/** The number of an invoice: `INV-202501-00001`. */
export function numberText(
  series: string,
  counter: number,
  { suffix_length: length }: Pick<NumberScheme, 'suffix_length'>,
): string {
  return series + String(counter).padStart(length, '0');
}

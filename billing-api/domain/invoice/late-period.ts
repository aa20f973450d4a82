import type { Decimal } from '../../../contract/number/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';
import type { PartitionEnd } from '../usage/watermark.js';
import type { InvoiceInputs, LineKind } from './invoice.js';

/** Which line of an invoice it is: the same in every computation of its period. */
export type LinePlace = {
  readonly kind: LineKind;
  /** Null for a true-up, which belongs to the plan as a whole. */
  readonly lineItemId: string | null;
  /** The grouped child that it belongs to; null for the invoice's own subscription. */
  readonly childId: string | null;
  readonly startMs: InstantMs;
};

/** What an invoice has charged for a line of a period: the invoice of the period, or a later one. */
export type ChargedLine = LinePlace & {
  readonly invoiceId: string;
  readonly displayName: string;
  readonly quantity: Decimal;
  /** After discounts. */
  readonly amount: Decimal;
  /** What it used of a commitment; 0 without one. */
  readonly committed: Decimal;
};

/**
 * A period that was invoiced, and of which usage came later (docs/domain.md 13.8). Its invoice is
 * priced again as a whole, and what is more than was charged is charged now.
 */
export type LatePeriod<C extends string = string> = {
  /** The finalized invoice of the period. */
  readonly invoiceId: string;
  readonly invoiceNumber: string | null;
  /** Which events it counted. */
  readonly countedBelow: readonly PartitionEnd[];
  /** What it was priced from, with the usage that is known now. */
  readonly inputs: InvoiceInputs<C>;
  /** By that invoice, and for the period by later ones. */
  readonly charged: readonly ChargedLine[];
  /** The least difference that is charged, up or down. */
  readonly leastAmount: Decimal;
};

/** Tells the lines of a period apart. */
export const placeOf = ({ kind, lineItemId, childId, startMs }: LinePlace): string =>
  JSON.stringify([kind, lineItemId, childId, startMs]);

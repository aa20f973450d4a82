import type { Fraction } from '../../usage-oracle/fraction.js';
import type { BillingPeriod } from '../../pricing-oracle/billing-grid.js';
import type { Range } from '../../usage-oracle/windows.js';

/*
 * Subscriptions as docs/domain.md 5.1, 12 and 22 to 27 describe them, in the plainest words: prices
 * that are fixed, one currency. Instants are milliseconds since 1970. Nothing here knows the
 * product.
 */

export type Cadence = 'ADVANCE' | 'ARREAR';

/** A fixed price of a plan, or of one line. */
export type ModelPrice = { readonly amount: string; readonly cadence: Cadence };

export type ModelPlan = { readonly id: string; readonly prices: readonly ModelPrice[] };

/** A line item. */
export type Item = {
  readonly id: string;
  /** The order of lines (docs/domain.md 1). */
  readonly order: readonly [createdAt: number, id: string];
  /** The first of the items that continue each other (27). */
  readonly lineage: string;
  readonly cadence: Cadence;
  readonly amount: string;
  readonly quantity: string;
  readonly start: number;
  end: number | null;
  /** Where the charge in advance of a row goes on to, although the item has ended (24.5). */
  paidTo: { readonly row: Row; readonly end: number } | null;
  /** Time after an end that is to come, which stays charged as it was if that comes (24.4). */
  tail: (Range & { readonly row: Row }) | null;
  /** The period of which an operation has settled the charge in advance (27). */
  readonly settled: Row | null;
  /** Whether it came while the subscription ran, and not with it (13.3). */
  readonly isAdded: boolean;
  /** The addon that brings it; null for another line. */
  readonly addonId: string | null;
};

/** An addon of the catalog: of one product, whatever the period. */
export type ModelAddon = ModelPlan;

/** An addon that a subscription has, or had (27). */
export type Addon = {
  readonly id: string;
  readonly addon: ModelAddon;
  isActive: boolean;
};

/** A row of the period ledger (12.10). */
export type Row = {
  readonly start: number;
  end: number;
  /** What a full charge is for (13.4). */
  readonly full: Range;
  readonly number: number;
  readonly isTrial: boolean;
  readonly pauses: Range[];
  /** Its charges in advance wait for the end of a pause (26). */
  isHeld: boolean;
};

export type Line = {
  readonly item: Item;
  readonly row: Row;
  readonly start: number;
  readonly end: number;
  /** How much of it is not paused, as far as that was known when it was invoiced. */
  readonly unpaused: number;
  readonly amount: Fraction;
  readonly net: Fraction;
};

export type ModelInvoice = {
  readonly reason: string;
  readonly start: number;
  readonly end: number;
  lines: readonly Line[];
  /** What a plan change set off on it (25.3); 0 elsewhere. */
  setOff: Fraction;
  /** When a draft is finalized; null: it is. */
  finalizeAt: number | null;
  /** Computes the lines of a draft again. */
  readonly compute: () => readonly Line[];
};

/** What was charged or credited inside of a period: from its instant to the end of the period. */
export type Piece = {
  readonly lineage: string;
  /** The item that it was charged for. */
  readonly itemId: string;
  readonly start: number;
  readonly unpaused: number;
  readonly row: Row;
  readonly net: Fraction;
};

export type Pause = { start: number; end: number | null; isAtPeriodEnd: boolean };

/** A change that is to come. */
export type Schedule =
  | {
      readonly type: 'cancellation';
      readonly end: number | null;
      /** Whether what is unused then is given back (24.6). */
      readonly isProrated: boolean;
    }
  | { readonly type: 'plan_change'; readonly terms: ChangeTerms };

export type ChangeTerms = {
  readonly plan: ModelPlan;
  readonly cycle: 'anniversary' | 'calendar';
  readonly period: BillingPeriod;
  readonly isProrated: boolean;
};

export type Status = 'draft' | 'trialing' | 'active' | 'paused' | 'cancelled';

export type Terms = {
  readonly zone: string;
  readonly period: BillingPeriod;
  readonly cycle: 'anniversary' | 'calendar';
  readonly isProrated: boolean;
  readonly trialDays: number;
  /** Percentage of a coupon on the invoice, for ever; null without one. */
  readonly percentOff: string | null;
};

export type BillStatus = 'PENDING' | 'FAILED' | 'SUCCEEDED' | 'OVERPAID' | 'PARTIALLY_REFUNDED';

/** The payment of a final invoice (docs/domain.md 17). */
export type Bill = {
  readonly due: Fraction;
  paid: Fraction;
  /** What went back of it by refunds of payments. */
  refunded: Fraction;
  status: BillStatus;
};

/** Who pays: a customer. */
export type Payer = {
  readonly id: string;
  credited: Fraction;
  /** What of it was money of voided invoices. */
  refunded: Fraction;
  roundings: number;
  /** By the ids of invoices of the product; one of which nobody has said anything has none. */
  readonly bills: Map<string, Bill>;
};

export type Life = {
  readonly id: string;
  readonly terms: Terms;
  plan: ModelPlan;
  readonly payer: Payer;
  status: Status;
  start: number;
  end: number | null;
  /** When its trial ends that no cancellation cuts; its start without one. */
  trialEnd: number;
  anchor: { at: number; number: number };
  readonly rows: Row[];
  readonly items: Item[];
  readonly addons: Addon[];
  readonly invoices: ModelInvoice[];
  readonly pieces: Piece[];
  /** Whether anything of it was given back to a wallet. */
  isCredited: boolean;
  pause: Pause | null;
  schedule: Schedule | null;
};

/** An instant that no subscription reaches. */
export const NEVER = Number.POSITIVE_INFINITY;

export function overlap(left: Range, right: Range): Range | null {
  const [start, end] = [Math.max(left.start, right.start), Math.min(left.end, right.end)];
  return start < end ? { start, end } : null;
}

/** The length of a range without pauses. */
export function unpausedOf(range: Range, pauses: readonly Range[]): number {
  const paused = pauses.map((pause) => overlap(range, pause));
  return paused.reduce(
    (left, each) => left - (each === null ? 0 : each.end - each.start),
    range.end - range.start,
  );
}

export function runningOf({ rows }: Pick<Life, 'rows'>): Row {
  const row = rows.at(-1);
  if (row === undefined) throw new Error('a subscription without a period');
  return row;
}

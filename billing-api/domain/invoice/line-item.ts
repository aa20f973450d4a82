import type { Decimal } from '../../../contract/number/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';
import type { LineCommitment } from '../commitment/commitment.js';
import type { Price } from '../price/price.js';
import type { LineMeter } from '../usage/line-meter.js';

/** A subscription line item: one price of the subscription over the time `[startMs, endMs)`. */
export type LineItem = {
  readonly id: string;
  /** The line item that this one continues (docs/domain.md 27); null for the first of a lineage. */
  readonly predecessorId: string | null;
  /** Decides the line order; equal ones are ordered by `id` (docs/domain.md 1). */
  readonly createdAtMs: InstantMs;
  readonly entityType: 'plan' | 'addon' | 'subscription';
  readonly entityId: string;
  readonly displayName: string;
  readonly planDisplayName: string | null;
  /** The factor of a FIXED price; 0 on USAGE lines (docs/domain.md 9.1). */
  readonly quantity: Decimal;
  readonly startMs: InstantMs;
  readonly endMs: InstantMs | null;
  /** Its first period in advance was settled by the change that made it (docs/domain.md 27). */
  readonly isSettled?: boolean;
  /** It was added to a period that ran: the invoice that charges that in advance is without it. */
  readonly isLate?: boolean;
  /** How far its last period is charged in advance, where it ends before (docs/domain.md 24.5). */
  readonly chargedUntilMs?: InstantMs;
  readonly price: Price;
  /** Present exactly when the price is of type USAGE. */
  readonly meter: LineMeter | null;
  /** Only with a meter. */
  readonly commitment: LineCommitment | null;
};

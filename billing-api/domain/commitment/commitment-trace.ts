import type { Decimal } from '../../../contract/number/decimal.js';
import type { Interval } from '../../../contract/instant.js';
import type { CommitmentType } from './commitment.js';

/** How a commitment changed the charge of a line (docs/domain.md 11). */
export type CommitmentTrace = {
  readonly level: 'subscription' | 'line';
  readonly type: CommitmentType;
  /** C in money. */
  readonly amount: Decimal;
  /** The commitment window, and whether this invoice is its last (docs/domain.md 11.2). */
  readonly window: Interval;
  readonly isLast: boolean;
  /** The part of C that earlier invoices and earlier lines of this one used up. */
  readonly usedBefore: Decimal;
  readonly inCommitment: Decimal;
  /** The charge beyond the commitment, at the normal price. */
  readonly overageBase: Decimal;
  readonly overageFactor: Decimal;
  readonly overage: Decimal;
  readonly trueUp: Decimal;
  /** The charge before it was split into this line and another; null if it was not split. */
  readonly splitOf: Decimal | null;
};

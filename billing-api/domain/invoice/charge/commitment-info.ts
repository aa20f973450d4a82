import type { Decimal } from '../../../../contract/number/decimal.js';
import { mustGet } from '../../../../runtime/failure.js';
import type { CommitmentTerms } from '../../commitment/commitment.js';
import { allocate } from '../../money/allocate.js';
import type { Money } from '../../money/money.js';
import type { CommittedCharge } from './commit-line.js';
import type { CommitmentInfo } from '../invoice.js';

type Configured = Pick<
  CommitmentInfo,
  'type' | 'amount' | 'quantity' | 'overageFactor' | 'isTrueUpEnabled'
>;

/** For a line on which only time buckets have a commitment. */
const NOT_CONFIGURED: Configured = {
  type: null,
  amount: null,
  quantity: null,
  overageFactor: null,
  isTrueUpEnabled: null,
};

/** The amount is C in money for a period, and the configured value for windows. */
function configured(terms: CommitmentTerms, money: Decimal | null): Configured {
  const { type, value, overageFactor, isTrueUpEnabled } = terms;
  const isAmount = type === 'amount';
  return {
    type,
    amount: money ?? (isAmount ? value : null),
    quantity: isAmount ? null : value,
    overageFactor,
    isTrueUpEnabled,
  };
}

/** The computed figures; when minor units are left over, the earlier part gets one first. */
const PARTS = ['utilized', 'overage', 'trueUp'] as const;

/**
 * The commitment of a line as its invoice line shows it (docs/domain.md 11.3, 11.4). The computed
 * figures are a largest-remainder split of the line amount; ties go to the earlier one.
 */
export function commitmentInfoOf<C extends string>(
  { commitment, money, ...charge }: CommittedCharge,
  amount: Money<C>,
): CommitmentInfo<C> {
  const { terms, duration, isWindowed } = commitment;
  const parts = new Map(allocate(amount, PARTS, (part) => charge[part]));
  return {
    ...(terms === null ? NOT_CONFIGURED : configured(terms, money)),
    duration,
    isWindowed,
    utilized: mustGet(parts, 'utilized', 'what a line used of its commitment'),
    overage: mustGet(parts, 'overage', 'the overage of a line'),
    trueUp: mustGet(parts, 'trueUp', 'the true-up of a line'),
  };
}

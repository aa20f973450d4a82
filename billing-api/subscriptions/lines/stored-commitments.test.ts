import { describe, expect, it } from 'vitest';
import { AssertionFailed } from '../../../runtime/failure.js';
import { NO_COMMITMENT } from './new-line.js';
import { lineCommitmentFrom } from './stored-commitments.js';

const ROW = {
  ...NO_COMMITMENT,
  price_id: 'price_1',
  commitment_type: 'amount',
  commitment_amount: '5',
  commitment_overage_factor: '2',
} as const;

describe('the commitment of a stored line', () => {
  it('fails when the price of the line was not read, whose time buckets would not be billed', () => {
    expect(() => lineCommitmentFrom(ROW, new Map())).toThrow(AssertionFailed);
    const uncommitted = { ...NO_COMMITMENT, price_id: 'price_1' };
    expect(() => lineCommitmentFrom(uncommitted, new Map())).toThrow(AssertionFailed);
  });

  it.each(['commitment_amount', 'commitment_overage_factor'] as const)(
    'fails when its row lacks %s, in place of billing without a commitment',
    (member) => {
      const lost = { ...ROW, [member]: null };
      expect(() => lineCommitmentFrom(lost, new Map())).toThrow(
        `${member === 'commitment_amount' ? 'value' : 'overage factor'} of a commitment is missing`,
      );
    },
  );
});

import { describe, expect, it } from 'vitest';
import {
  durationProblem,
  readLineCommitments,
  readSubscriptionCommitment,
} from './commitment-request.js';
import type {
  LineItemCommitmentBody,
  SubscriptionCommitmentBody,
} from '../../declarations/subscriptions/commitment-dto.js';
import { MemberReader } from '../../records/member-rules.js';

const MONTHLY = { billingPeriod: 'MONTHLY', billingPeriodCount: 1 } as const;

describe('the commitment of a subscription (11.1, 11.2)', () => {
  const refused = (request: SubscriptionCommitmentBody, currency = 'usd'): readonly string[] => {
    const reader = new MemberReader();
    readSubscriptionCommitment(reader, request, { ...MONTHLY, currency });
    return Object.keys(reader.refusal()?.details ?? {});
  };

  it('is an amount with a factor of 1 or more', () => {
    expect(refused({})).toEqual([]);
    expect(refused({ commitment_amount: '100', overage_factor: '1.5' })).toEqual([]);
    expect(refused({ commitment_amount: '100', overage_factor: '1' })).toEqual([]);
    expect(refused({ commitment_amount: '100', overage_factor: '0.99' })).toEqual([
      'overage_factor',
    ]);
    expect(refused({ commitment_amount: '100' })).toEqual(['overage_factor']);
    expect(refused({ commitment_amount: '-1', overage_factor: '2' })).toEqual([
      'commitment_amount',
    ]);
  });

  it('has at most the minor digits of the currency', () => {
    const withAmount = (amount: string, currency: string): readonly string[] =>
      refused({ commitment_amount: amount, overage_factor: '2' }, currency);
    expect(withAmount('100.25', 'usd')).toEqual([]);
    expect(withAmount('100.255', 'usd')).toEqual(['commitment_amount']);
    expect(withAmount('100.5', 'jpy')).toEqual(['commitment_amount']);
    expect(withAmount('100.255', 'kwd')).toEqual([]);
  });

  it('is needed by everything that says more about it', () => {
    expect(refused({ overage_factor: '2' })).toEqual(['overage_factor']);
    expect(refused({ commitment_duration: 'ANNUAL' })).toEqual(['commitment_duration']);
    expect(refused({ enable_true_up: true })).toEqual(['enable_true_up']);
    expect(refused({ enable_true_up: false })).toEqual([]);
  });

  it('lasts the billing period or a whole multiple of it', () => {
    const suits = (
      duration: Parameters<typeof durationProblem>[0],
      billingPeriod: Parameters<typeof durationProblem>[0],
      billingPeriodCount = 1,
    ): boolean => durationProblem(duration, { billingPeriod, billingPeriodCount }) === null;
    expect(suits('MONTHLY', 'MONTHLY')).toBe(true);
    expect(suits('ANNUAL', 'MONTHLY')).toBe(true);
    expect(suits('QUARTERLY', 'MONTHLY', 3)).toBe(true);
    expect(suits('QUARTERLY', 'MONTHLY', 2)).toBe(false);
    expect(suits('MONTHLY', 'QUARTERLY')).toBe(false);
    expect(suits('ANNUAL', 'MONTHLY', 5)).toBe(false);
    expect(suits('DAILY', 'DAILY')).toBe(true);
    expect(suits('WEEKLY', 'DAILY')).toBe(false);
    expect(suits('MONTHLY', 'WEEKLY')).toBe(false);
    expect(suits('DAILY', 'DAILY', 2)).toBe(false);
  });
});

describe('the commitment of a line (11.3 to 11.5)', () => {
  const refused = (
    request: LineItemCommitmentBody,
    subscription: SubscriptionCommitmentBody = {},
  ): readonly string[] => {
    const reader = new MemberReader();
    readLineCommitments(reader, { p: request }, subscription);
    const members = Object.keys(reader.refusal()?.details ?? {});
    return members.map((member) => member.replace('line_item_commitments.p.', ''));
  };
  const AMOUNT = { commitment_amount: '500', commitment_overage_factor: '1.2' };
  const BUCKET = {
    start: { hour: 9 },
    end: { hour: 17 },
    commitment_type: 'amount',
    commitment_value: '4',
    overage_factor: 1.5,
    price_id: 'price_x',
  } as const;

  it('is exactly one of amount and quantity, above 0', () => {
    expect(refused(AMOUNT)).toEqual([]);
    expect(refused({ commitment_quantity: '10000', commitment_overage_factor: '1' })).toEqual([]);
    expect(refused({ ...AMOUNT, commitment_quantity: '1' })).toEqual(['commitment_quantity']);
    expect(refused({})).toEqual(['commitment_amount']);
    expect(refused({ ...AMOUNT, commitment_amount: '0' })).toEqual(['commitment_amount']);
    expect(refused({ commitment_quantity: '-1', commitment_overage_factor: '1' })).toEqual([
      'commitment_quantity',
    ]);
  });

  it('has a factor of 1 or more', () => {
    expect(refused({ commitment_amount: '500' })).toEqual(['commitment_overage_factor']);
    expect(refused({ ...AMOUNT, commitment_overage_factor: '1' })).toEqual([]);
    expect(refused({ ...AMOUNT, commitment_overage_factor: '0.999' })).toEqual([
      'commitment_overage_factor',
    ]);
  });

  it('has the type of the member that is given', () => {
    expect(refused({ ...AMOUNT, commitment_type: 'amount' })).toEqual([]);
    expect(refused({ ...AMOUNT, commitment_type: 'quantity' })).toEqual(['commitment_type']);
  });

  it('may be time buckets alone, which need windows', () => {
    const buckets = { commitment_time_buckets: [BUCKET] };
    expect(refused({ ...buckets, commitment_windowed: true })).toEqual([]);
    expect(refused({ ...AMOUNT, ...buckets, commitment_windowed: true })).toEqual([]);
    expect(refused(buckets)).toEqual(['commitment_time_buckets']);
    expect(refused({ ...AMOUNT, commitment_time_buckets: [] })).toEqual([]);
    const alone = { ...buckets, commitment_windowed: true };
    expect(refused({ ...alone, commitment_overage_factor: '2' })).toEqual([
      'commitment_overage_factor',
    ]);
    expect(refused({ ...alone, commitment_true_up_enabled: true })).toEqual([
      'commitment_true_up_enabled',
    ]);
  });

  it('is never beside one of the subscription', () => {
    expect(refused(AMOUNT, { commitment_amount: '1', overage_factor: '2' })).toEqual([
      'line_item_commitments',
    ]);
  });
});

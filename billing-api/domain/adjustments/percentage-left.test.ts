import { expect, test } from 'vitest';
import { Decimal } from '../../../contract/number/decimal.js';
import type { CouponAssociation } from './adjustments.js';
import { percentageLeft } from './percentage-left.js';

const coupon = (
  percentage: string,
  members: Omit<Partial<CouponAssociation>, 'coupon'> = {},
): CouponAssociation => ({
  id: 'association',
  lineItemId: null,
  applicationCount: 0,
  validity: { startMs: 0, endMs: Infinity },
  coupon: {
    id: 'coupon',
    cadence: 'forever',
    durationInPeriods: null,
    type: 'percentage',
    percentageOff: new Decimal(percentage),
  } as const,
  ...members,
});

test.for([
  ['none leaves all', [], '1'],
  ['10 % of the invoice', [coupon('10')], '0.9'],
  ['two of the invoice follow each other', [coupon('10'), coupon('10')], '0.81'],
  ['two of the line are added', ['60', '30'].map((p) => coupon(p, { lineItemId: 'line' })), '0.1'],
  ['and take no more than all', ['60', '60'].map((p) => coupon(p, { lineItemId: 'line' })), '0'],
  ['of a line before it', [coupon('50', { lineItemId: 'old', successorIds: ['line'] })], '0.5'],
  ['of another line', [coupon('50', { lineItemId: 'other' })], '1'],
  ['both kinds', [coupon('50', { lineItemId: 'line' }), coupon('10')], '0.45'],
] as const)('%s', ([, coupons, left]) => {
  expect(percentageLeft(coupons, 'line').toFixed()).toBe(left);
});

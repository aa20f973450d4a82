import { describe, expect, it } from 'vitest';
import { MemberReader } from '../../records/member-rules.js';
import { readAdjustments } from './adjustments.js';

/** `count` codes, a hundred on a line. */
function onLines(count: number): Record<string, string[]> {
  const lines: Record<string, string[]> = {};
  for (let index = 0; index < count; index += 1) {
    const line = (lines[`price_${Math.floor(index / 100)}`] ??= []);
    line.push(`CODE-${index}`);
  }
  return lines;
}

describe('readAdjustments', () => {
  it.each([
    [999, 1],
    [1000, 0],
    [900, 100],
  ])('takes %i codes on lines and %i on the invoice, 1000 in all', (lines, invoice) => {
    const reader = new MemberReader();
    const coupons = Array.from({ length: invoice }, (_, index) => `OF-INVOICE-${index}`);
    const read = readAdjustments(reader, { coupons, line_item_coupons: onLines(lines) }, 0);
    expect([reader.refusal(), read.coupons.length]).toEqual([null, 1000]);
  });

  it('refuses more', () => {
    const reader = new MemberReader();
    readAdjustments(reader, { coupons: ['ONE'], line_item_coupons: onLines(1000) }, 0);
    expect(reader.refusal()?.details).toEqual({
      line_item_coupons: 'must have, with coupons, at most 1000 codes in all',
    });
  });

  it('takes a code once on the invoice and once on each line', () => {
    const reader = new MemberReader();
    const ofLines = { price_1: ['A'], price_2: ['A', 'B', 'A'] };
    const read = readAdjustments(reader, { coupons: ['A'], line_item_coupons: ofLines }, 0);
    expect(read.coupons.slice(0, 2)).toEqual([
      { place: 'coupons.0', code: 'A', priceId: null },
      { place: 'line_item_coupons.price_1.0', code: 'A', priceId: 'price_1' },
    ]);
    expect(reader.refusal()?.details).toEqual({
      'line_item_coupons.price_2.2': 'must not be given twice',
    });
  });
});

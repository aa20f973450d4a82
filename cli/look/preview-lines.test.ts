import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { previewLines, type ShownInvoice } from './preview-lines.js';

type Line = ShownInvoice['line_items'][number];
type Pricing = NonNullable<NonNullable<Line['explanation']>['pricing']>;

const step = { tier: 1, up_to: null, quantity: '3', unit_amount: '0.25', flat_amount: '0' };
const flatFee: Pricing = {
  billing_model: 'FLAT_FEE',
  tier_mode: null,
  steps: [{ ...step, amount: '0.75' }],
  packages: null,
};

function line(differing: Partial<Line>, pricing: Pricing | null = flatFee): Line {
  return {
    display_name: 'API calls',
    quantity: '3',
    amount: '0.75',
    line_item_discount: '0.00',
    usage_analytics: [],
    usage_breakdown: [],
    meter_id: 'meter_1',
    explanation: { pricing, commitment: null },
    ...differing,
  };
}

/** All that is said of an invoice with these lines. */
function shown(lines: readonly Line[], differing: Partial<ShownInvoice> = {}): readonly string[] {
  return previewLines({
    customer_id: 'cust_1',
    customer: { name: 'Acme Inc.', external_id: 'acme' },
    period_start: '2026-01-01T00:00:00.000Z',
    period_end: '2026-02-01T00:00:00.000Z',
    data_until: '2026-01-15T08:00:00.000Z',
    currency: 'usd',
    subtotal: '0.75',
    total_discount: '0.00',
    total_tax: '0.00',
    total: '0.75',
    line_items: lines,
    ...differing,
  }).map((text) => stripVTControlCharacters(text));
}

/** The table of these lines, without what stands around it. */
function tableOf(lines: readonly Line[], differing: Partial<ShownInvoice> = {}): readonly string[] {
  const all = shown(lines, differing);
  expect(all[0]).toBe(
    'Invoice preview for Acme Inc., 2026-01-01T00:00:00.000Z to 2026-02-01T00:00:00.000Z',
  );
  expect(all.at(-1)).toBe(
    'All events that were received before 2026-01-15T08:00:00.000Z are included, and perhaps later ones.',
  );
  return all.slice(2, -2).map((text) => text.trimEnd());
}

describe('the table of a preview', () => {
  test('says up to when events are included only where usage is billed', () => {
    const unknown = 'It is not known yet up to when all events are included.';
    expect(shown([line({})], { data_until: null }).at(-1)).toBe(unknown);
    const fees = [line({ meter_id: null, display_name: 'Fee' })];
    for (const until of [null, '2026-01-15T08:00:00.000Z']) {
      expect(shown(fees, { data_until: until }).at(-1)).toMatch(/^Total +0\.75$/);
    }
  });

  test('has a row a line with quantity, unit amount and amount, and the total', () => {
    expect(tableOf([line({})])).toEqual([
      'line       quantity  unit amount  amount USD',
      '────────────────────────────────────────────',
      'API calls         3         0.25        0.75',
      'Total                                   0.75',
    ]);
  });

  test('has a row a tier, with its flat amount', () => {
    const steps = [
      { ...step, tier: 1, up_to: 1000, quantity: '1000', unit_amount: '0.05', amount: '50' },
      {
        ...step,
        tier: 2,
        quantity: '500.5',
        unit_amount: '0.0433',
        flat_amount: '10',
        amount: '31.67165',
      },
    ];
    const pricing: Pricing = { ...flatFee, billing_model: 'TIERED', tier_mode: 'SLAB', steps };
    expect(tableOf([line({ quantity: '1500.5', amount: '81.67' }, pricing)])).toEqual([
      'line                   quantity       unit amount  amount USD',
      '─────────────────────────────────────────────────────────────',
      'API calls                1500.5                         81.67',
      '  tier 1, up to 1000       1000              0.05          50',
      '  tier 2, beyond 1000     500.5  0.0433 + 10 flat    31.67165',
      'Total                                                    0.75',
    ]);
  });

  test('says how many packages a price counts', () => {
    const pricing: Pricing = { ...flatFee, billing_model: 'PACKAGE', packages: '2' };
    expect(tableOf([line({}, pricing)])[2]).toMatch(/^API calls +3 +0\.25 × 2 packages +0\.75$/);
  });

  test('leaves the unit amount empty where a line has none, as one with time buckets', () => {
    expect(tableOf([line({}, null)])[2]).toMatch(/^API calls +3 +0\.75$/);
  });

  test('shows commitments, splits, discounts and taxes that are not zero', () => {
    const commitment = {
      level: 'line' as const,
      type: 'amount' as const,
      amount: '100',
      used_before: '0',
      in_commitment: '0.5',
      overage_base: '0.25',
      overage_factor: '2',
      overage: '0.5',
      true_up: '0',
      split_of: null,
    };
    const split = { usage: '2', cost: '0.50', percentage: '66.67', event_count: 2 };
    const full = line({
      line_item_discount: '0.10',
      usage_analytics: [
        { ...split, source: 'docs' },
        { ...split, source: '' },
      ],
      usage_breakdown: [{ ...split, grouped_by: { 'properties.region': 'eu\u001b[2J' } }],
      explanation: { pricing: flatFee, commitment },
    });
    const totals = { total_discount: '0.10', total_tax: '0.13', total: '0.78' };
    const rows = tableOf([full], totals).slice(2);
    expect(rows.map((row) => row.replace(/ {2,}/g, ' | ').trim())).toEqual([
      'API calls | 3 | 0.25 | 0.75',
      '| within the commitment | 0.5',
      '| overage × 2 | 0.5',
      '| of docs | 2 | 66.67 % | 0.50',
      '| of no source | 2 | 66.67 % | 0.50',
      '| of eu\\u001b[2J | 2 | 66.67 % | 0.50',
      '| discount | -0.10',
      'Subtotal | 0.75',
      'Discounts | -0.10',
      'Taxes | 0.13',
      'Total | 0.78',
    ]);
  });
});

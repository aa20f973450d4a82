import { describe, expect, it } from 'vitest';
import { decimalOf } from '../../../contract/number/decimal.js';
import { JANUARY, USAGE_PRICE, day, usageLine, usageOf } from '../../testing/invoice-samples.js';
import { formatMoney } from '../money/money.js';
import type { LineCommitment } from '../commitment/commitment.js';
import type { LineItem } from './line-item.js';
import { buildInvoice } from './pricing/build-invoice.js';
import type { InvoiceInputs } from './invoice.js';

const price = { ...USAGE_PRICE, amount: decimalOf('1') };

function commitment(value: string, change: Partial<LineCommitment> = {}): LineCommitment {
  const overageFactor = decimalOf('1.5');
  const terms = { type: 'amount', value: decimalOf(value), overageFactor } as const;
  return {
    terms: { ...terms, isTrueUpEnabled: true },
    isWindowed: false,
    duration: null,
    timeBuckets: [],
    ...change,
  };
}

/** A line of price 1 with a true-up; each continues the one before it. */
function segments(
  ...lines: readonly {
    id: string;
    from: string;
    until?: string;
    committed: LineCommitment | null;
    price?: Partial<LineItem['price']>;
  }[]
): readonly LineItem[] {
  return lines.map(({ id, from, until, committed, price: own = {} }, index) =>
    usageLine(id, {
      price: { ...price, ...own },
      predecessorId: lines[index - 1]?.id ?? null,
      startMs: day(from),
      endMs: until === undefined ? null : day(until),
      commitment: committed,
    }),
  );
}

/** Amount of every line with what it shows as utilized, overage and true-up. */
function charges(
  lineItems: readonly LineItem[],
  usage: Readonly<Record<string, string>>,
  change: Partial<InvoiceInputs> = {},
): string[] {
  const read = new Map(Object.entries(usage).map(([id, value]) => [id, usageOf(value)]));
  const { lines } = buildInvoice({ ...JANUARY, lineItems, usage: read, ...change });
  return lines.map(({ lineItem, amount, commitmentInfo: info }) => {
    const parts = [info?.utilized, info?.overage, info?.trueUp].map(
      (part) => part && formatMoney(part),
    );
    return `${lineItem?.id ?? ''} ${formatMoney(amount)} = ${parts.join(' + ')}`;
  });
}

describe('the maximum of a price (8.8)', () => {
  const priced = (amount: string, maxAmount: string) => ({
    price: { amount: decimalOf(amount), maxAmount: decimalOf(maxAmount) },
    committed: null,
  });

  it.each([
    ['400', '40.00'],
    ['500', '50.00'],
    ['1000', '50.00'],
  ])('charges %s units at 0.10 with at most 50.00 as %s', (units, amount) => {
    const lineItems = segments({ id: 'only', from: '2026-01-01', ...priced('0.1', '50') });
    expect(charges(lineItems, { only: units })).toEqual([`only ${amount} =  +  + `]);
  });

  it('is shared by lines that continue one another, each with its own', () => {
    const lineItems = segments(
      { id: 'first', from: '2026-01-01', until: '2026-01-16', ...priced('0.1', '50') },
      { id: 'second', from: '2026-01-16', ...priced('0.2', '60') },
    );
    const amounts = charges(lineItems, { first: '300', second: '400' });
    expect(amounts).toEqual(['first 30.00 =  +  + ', 'second 30.00 =  +  + ']);
  });

  it('takes from the overage of a commitment first, then from its true-up', () => {
    const committed = commitment('40', {});
    const line = (maxAmount: string) =>
      segments({ id: 'only', from: '2026-01-01', ...priced('1', maxAmount), committed });
    // 40.00 + 20.00 x 1.5 without a maximum.
    expect(charges(line('60'), { only: '60' })).toEqual(['only 60.00 = 40.00 + 20.00 + 0.00']);
    expect(charges(line('35'), { only: '60' })).toEqual(['only 35.00 = 35.00 + 0.00 + 0.00']);
    expect(charges(line('35'), { only: '10' })).toEqual(['only 35.00 = 10.00 + 0.00 + 25.00']);
  });
});

describe('a commitment along a lineage (11.3)', () => {
  const changed = segments(
    { id: 'a', from: '2026-01-01', until: '2026-01-16', committed: commitment('500') },
    { id: 'b', from: '2026-01-16', committed: commitment('800') },
  );

  it('C 500 changed to C 800 on 16 Jan, u 300 and 200: 300, then 200 + true-up 300', () => {
    expect(charges(changed, { a: '300', b: '200' })).toEqual([
      'a 300.00 = 300.00 + 0.00 + 0.00',
      'b 500.00 = 200.00 + 0.00 + 300.00',
    ]);
  });

  it('what the first one used lowers what the second one has', () => {
    expect(charges(changed, { a: '600', b: '400' })).toEqual([
      'a 650.00 = 500.00 + 150.00 + 0.00',
      'b 450.00 = 300.00 + 150.00 + 0.00',
    ]);
  });

  it('does not depend on the order in which lines were created', () => {
    const late = changed.map((item) => ({
      ...item,
      createdAtMs: item.id === 'a' ? day('2026-01-03') : day('2026-01-02'),
    }));
    expect(charges(late, { a: '600', b: '400' })).toEqual([
      'b 450.00 = 300.00 + 150.00 + 0.00',
      'a 650.00 = 500.00 + 150.00 + 0.00',
    ]);
  });

  it('trues up the last committed line, when its successor has no commitment', () => {
    const dropped = segments(
      { id: 'a', from: '2026-01-01', until: '2026-01-16', committed: commitment('500') },
      { id: 'b', from: '2026-01-16', committed: null },
    );
    expect(charges(dropped, { a: '300', b: '200' })[0]).toBe('a 500.00 = 300.00 + 0.00 + 200.00');
  });

  it('counts what an earlier invoice of the window shows for a predecessor', () => {
    const yearly = segments(
      {
        id: 'a',
        from: '2026-01-01',
        until: '2026-02-01',
        committed: commitment('500', { duration: 'ANNUAL' }),
      },
      { id: 'b', from: '2026-02-01', committed: commitment('800', { duration: 'ANNUAL' }) },
    );
    const january = JANUARY.period;
    const change = {
      period: { startMs: day('2026-02-01'), endMs: day('2026-03-01') },
      asOfMs: day('2026-03-01'),
      priorCommitments: [
        { invoiceId: 'earlier', period: january, lineItemId: 'a', amount: decimalOf('500') },
      ],
    };
    expect(charges(yearly, { b: '400' }, change)).toEqual(['b 450.00 = 300.00 + 150.00 + 0.00']);
  });
});

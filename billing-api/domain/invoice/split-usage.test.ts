import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal, ZERO, decimalOf, plain } from '../../../contract/number/decimal.js';
import { Money, formatMoney, sumOfMoney } from '../money/money.js';
import { usd } from '../../testing/invoice-samples.js';
import type { GroupedUsage, SourceUsage } from '../usage/line-usage.js';
import { splitByGrouping, splitBySource } from './split-usage.js';

const share = (source: string, usage: string, eventCount = 1): SourceUsage => ({
  source,
  usage: decimalOf(usage),
  eventCount,
});
const rows = (amount: string, shares: readonly SourceUsage[]): string[] =>
  splitBySource(usd(amount), shares).map(
    (row) => `${row.source} ${plain(row.usage)} ${formatMoney(row.cost)} ${plain(row.percentage)}`,
  );

describe('usage_analytics (13.6)', () => {
  it('splits the line amount by usage, with percentages half-up to 2 digits', () => {
    expect(rows('10', [share('a', '1'), share('b', '1'), share('c', '1')])).toEqual([
      'a 1 3.34 33.33',
      'b 1 3.33 33.33',
      'c 1 3.33 33.33',
    ]);
  });

  it('shows the greatest usage first, then texts by code units', () => {
    const shares = [share('b', '2'), share('', '2'), share('B', '2'), share('z', '5')];
    expect(rows('1.10', shares)).toEqual([
      'z 5 0.50 45.45',
      ' 2 0.20 18.18',
      'B 2 0.20 18.18',
      'b 2 0.20 18.18',
    ]);
  });

  it('rounds a percentage half-up', () => {
    expect(rows('1', [share('a', '99.995'), share('b', '0.005')])).toEqual([
      'a 99.995 1.00 100',
      'b 0.005 0.00 0.01',
    ]);
  });

  it('has no rows where nothing was used', () => {
    expect(rows('0', [share('a', '0')])).toEqual([]);
    expect(rows('0', [])).toEqual([]);
  });

  it('keeps a part without usage beside one with usage', () => {
    expect(rows('5', [share('a', '0', 3), share('b', '1')])).toEqual([
      'b 1 5.00 100',
      'a 0 0.00 0',
    ]);
  });

  it('keeps the event counts', () => {
    const [row] = splitBySource(usd('5'), [share('a', '1', 17)]);
    expect(row?.eventCount).toBe(17);
  });
});

describe('usage_breakdown (13.6)', () => {
  const group = (groupedBy: Record<string, string>, usage: string): GroupedUsage => ({
    groupedBy,
    usage: decimalOf(usage),
    eventCount: 1,
  });

  it('has the groups of the keys asked for', () => {
    const shares = [group({ region: 'us' }, '1'), group({ region: 'eu' }, '3')];
    expect(
      splitByGrouping(usd('2'), shares).map((row) => [
        row.groupedBy,
        formatMoney(row.cost),
        plain(row.percentage),
      ]),
    ).toEqual([
      [{ region: 'eu' }, '1.50', '75'],
      [{ region: 'us' }, '0.50', '25'],
    ]);
  });

  it('orders equal groups by their texts, not by the order of their keys', () => {
    const shares = [
      group({ region: 'us', tier: 'b' }, '1'),
      group({ tier: 'a', region: 'us' }, '1'),
    ];
    const tiers = splitByGrouping(usd('2'), shares).map((row) => row.groupedBy['tier']);
    expect(tiers).toEqual(['a', 'b']);
  });
});

describe('laws', () => {
  const usages = fc
    .bigInt({ min: 0n, max: 10n ** 22n })
    .map((digits) => new Decimal(digits.toString()).dividedBy('1e12'));
  const shares = fc
    .uniqueArray(fc.string(), { maxLength: 12 })
    .chain((sources) =>
      fc.tuple(fc.constant(sources), fc.array(usages, { minLength: 12, maxLength: 12 })),
    )
    .map(([sources, amounts]) =>
      sources.map((source, index): SourceUsage => ({
        source,
        usage: amounts[index] ?? ZERO,
        eventCount: index,
      })),
    );
  const money = fc
    .integer({ min: 0, max: 10_000_000 })
    .map((units) => new Money<string>(new Decimal(units).div(100), 'usd'));

  it('the costs of the rows add up to the line amount', () => {
    fc.assert(
      fc.property(money, shares, (amount, parts) => {
        const split = splitBySource(amount, parts);
        fc.pre(split.length > 0);
        const costs = split.map(({ cost }) => cost);
        expect(sumOfMoney(costs, 'usd')).toEqual(amount);
      }),
    );
  });

  it('the order of the shares does not matter', () => {
    fc.assert(
      fc.property(money, shares, (amount, parts) => {
        expect(JSON.stringify(splitBySource(amount, [...parts].reverse()))).toBe(
          JSON.stringify(splitBySource(amount, parts)),
        );
      }),
    );
  });
});

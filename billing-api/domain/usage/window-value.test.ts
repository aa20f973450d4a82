import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AGGREGATION_TYPES, type AggregationType } from '../../../contract/aggregation.js';
import { Decimal, maxOf, plain, ZERO } from '../../../contract/number/decimal.js';
import { compileValueRule } from '../../../contract/event-value.js';
import { DAY_MS, type Interval } from '../../../contract/instant.js';
import { addTally, createUsageCell } from '../../../contract/usage-cell.js';
import { addCells, EMPTY_CELL, windowCellOf, type WindowCell } from './window-cell.js';
import { valueOfWindow, valueWithHistory } from './window-value.js';

type Event = { readonly atMs: number; readonly text: string | null; readonly id: string };

const START = Date.UTC(2026, 9, 1);
const at = (days: number): number => START + days * DAY_MS;

/** The cell of events, as minutes and edges of it add up to. */
function cellOf(type: AggregationType, events: readonly Event[]): WindowCell {
  const rule = compileValueRule(
    { type, field: 'v', expression: null, multiplier: null, groupBy: null },
    (text) => text,
  );
  const cell = createUsageCell(type);
  for (const { atMs, text, id } of events) {
    const place = { atMs, receivedMs: atMs, eventId: id };
    addTally(cell, rule, { texts: [text], count: 1, timeSumMs: atMs, place });
  }
  return { ...windowCellOf(type, cell), uniqueCount: cell.uniques.size };
}

const eventsOf = (...pairs: readonly (readonly [days: number, text: string | null])[]) =>
  pairs.map(([days, text], index) => ({ atMs: at(days), text, id: `e${index}` }));

const MONTH: Interval = { startMs: at(0), endMs: at(30) };
const valueOf = (type: AggregationType, events: readonly Event[], window = MONTH): string =>
  plain(valueOfWindow(type, cellOf(type, events), window));

describe('value of a window', () => {
  it.each<[AggregationType, string]>([
    ['COUNT', '4'],
    ['SUM', '6.500000000000000001'],
    ['SUM_WITH_MULTIPLIER', '6.500000000000000001'],
    ['AVG', '1.625'],
    ['MAX', '3.5'],
    ['MIN', '0'],
    ['LATEST', '3.000000000000000001'],
    ['COUNT_UNIQUE', '3'],
  ])('of %s is exact', (type, value) => {
    const events = eventsOf([1, '3.5'], [2, null], [3, '0'], [4, '3.000000000000000001']);
    expect(valueOf(type, events)).toBe(value);
  });

  it.each(AGGREGATION_TYPES)('of %s is 0 without events', (type) => {
    expect(valueOf(type, [])).toBe('0');
    expect(valueOf(type, [], { startMs: at(0), endMs: at(0) })).toBe('0');
  });

  it('of AVG is rounded half-up to 18 digits and counts events without the property', () => {
    expect(valueOf('AVG', eventsOf([1, '2'], [2, '0'], [3, '0']))).toBe('0.666666666666666667');
    expect(valueOf('AVG', eventsOf([1, '3'], [2, null]))).toBe('1.5');
    expect(valueOf('AVG', eventsOf([1, '0.000000000000000001'], [2, '0']))).toBe(
      '0.000000000000000001',
    );
  });

  it('of MIN is the least that can be read, and 0 when nothing can', () => {
    expect(valueOf('MIN', eventsOf([1, '3.5'], [2, null], [3, 'x'], [4, '2.25']))).toBe('2.25');
    expect(valueOf('MIN', eventsOf([1, null], [2, 'x']))).toBe('0');
    expect(valueOf('MIN', eventsOf([1, '5'], [2, '-3']))).toBe('0');
  });

  it('of WEIGHTED_SUM weighs every change by the time that is left', () => {
    expect(valueOf('WEIGHTED_SUM', eventsOf([0, '10'], [15, '10']))).toBe('15');
    expect(valueOf('WEIGHTED_SUM', eventsOf([0, '10'], [15, '-4']))).toBe('8');
    expect(valueOf('WEIGHTED_SUM', eventsOf([0, '1'], [20, '1']))).toBe('1.333333333333333333');
    expect(valueOf('WEIGHTED_SUM', eventsOf([0, '-10'], [15, '4']))).toBe('0');
  });

  it('takes the values at the bounds exactly', () => {
    const nines = '9'.repeat(39);
    expect(valueOf('SUM', eventsOf([1, nines], [2, nines]))).toBe(`1${'9'.repeat(38)}8`);
    expect(valueOf('SUM', eventsOf([1, '1e-30'], [2, '1e-18']))).toBe('0.000000000000000001');
    expect(valueOf('MAX', eventsOf([1, '1e30']))).toBe(`1${'0'.repeat(30)}`);
  });
});

describe('value of a meter that never resets', () => {
  const before = eventsOf([-3, '5'], [-2, '7']);
  const inside = eventsOf([10, '2'], [20, '7']);
  const valueOfBoth = (type: AggregationType): string => {
    const history = { before: cellOf(type, before), inside: cellOf(type, inside) };
    return plain(valueWithHistory(type, history, MONTH));
  };
  it.each<[AggregationType, string]>([
    ['COUNT', '4'],
    ['SUM', '21'],
    ['SUM_WITH_MULTIPLIER', '21'],
    ['AVG', '5.25'],
    ['MAX', '7'],
    ['MIN', '2'],
    ['LATEST', '7'],
    // 12 for the whole window, 2 for two thirds and 7 for one third of it.
    ['WEIGHTED_SUM', '15.666666666666666667'],
  ])('of %s counts what was before', (type, value) => {
    expect(valueOfBoth(type)).toBe(value);
  });

  it('counts a text in its first window only', () => {
    const history = {
      before: { ...EMPTY_CELL, uniqueCount: 2 },
      inside: { ...EMPTY_CELL, uniqueCount: 1 },
    };
    expect(plain(valueWithHistory('COUNT_UNIQUE', history, MONTH))).toBe('3');
  });

  it('lets earlier changes count for the whole window, and never sinks below 0', () => {
    const history = {
      before: cellOf('WEIGHTED_SUM', eventsOf([-1, '-3'])),
      inside: cellOf('WEIGHTED_SUM', eventsOf([0, '10'], [15, '10'])),
    };
    expect(plain(valueWithHistory('WEIGHTED_SUM', history, MONTH))).toBe('12');
    const sunk = { ...history, before: cellOf('WEIGHTED_SUM', eventsOf([-1, '-99'])) };
    expect(plain(valueWithHistory('WEIGHTED_SUM', sunk, MONTH))).toBe('0');
  });
});

const numberText = fc
  .tuple(fc.integer({ min: 0, max: 10 ** 9 }), fc.integer({ min: 0, max: 20 }))
  .map(([digits, shift]) => `${digits}e-${shift}`);
const someEvents = fc.array(
  fc.record({
    atMs: fc.integer({ min: MONTH.startMs, max: MONTH.endMs - 1 }),
    text: fc.option(numberText),
    id: fc.uuid(),
  }),
  { maxLength: 30 },
);
const addedUp = (type: AggregationType, cells: readonly WindowCell[]): WindowCell =>
  cells.reduce((sum, cell) => addCells(type, sum, cell), EMPTY_CELL);

describe('laws', () => {
  const ADDITIVE = AGGREGATION_TYPES.filter((type) => type !== 'COUNT_UNIQUE');

  it.each(ADDITIVE)('cutting a window anywhere does not change its %s', (type) => {
    fc.assert(
      fc.property(someEvents, fc.array(fc.nat({ max: 30 })), (events, cuts) => {
        const bounds = [MONTH.startMs, ...cuts.map(at).sort((a, b) => a - b), MONTH.endMs];
        const cells = bounds.slice(1).map((endMs, index) => {
          const startMs = bounds[index] ?? 0;
          return cellOf(
            type,
            events.filter(({ atMs }) => atMs >= startMs && atMs < endMs),
          );
        });
        const whole = valueOfWindow(type, cellOf(type, events), MONTH);
        expect(plain(valueOfWindow(type, addedUp(type, cells.reverse()), MONTH))).toBe(
          plain(whole),
        );
      }),
    );
  });

  it('values of parts add up to a SUM and a COUNT, and the greatest of them is the MAX', () => {
    fc.assert(
      fc.property(someEvents, fc.nat({ max: 30 }), (events, cut) => {
        const early = events.filter(({ atMs }) => atMs < at(cut));
        const late = events.filter(({ atMs }) => atMs >= at(cut));
        for (const type of ['SUM', 'COUNT'] as const) {
          const parts = new Decimal(valueOf(type, early)).plus(valueOf(type, late));
          expect(valueOf(type, events)).toBe(plain(parts));
        }
        const greatest = maxOf(
          new Decimal(valueOf('MAX', early)),
          new Decimal(valueOf('MAX', late)),
        );
        expect(valueOf('MAX', events)).toBe(plain(greatest));
      }),
    );
  });

  it.each(AGGREGATION_TYPES)('%s is never below 0 and has at most 18 fraction digits', (type) => {
    const signed = fc.array(fc.tuple(fc.nat({ max: 29 }), fc.integer({ min: -1000, max: 1000 })));
    fc.assert(
      fc.property(signed, (pairs) => {
        const events = eventsOf(...pairs.map(([days, n]) => [days, `${n}e-2`] as const));
        const value = new Decimal(valueOf(type, events));
        expect(value.greaterThanOrEqualTo(ZERO)).toBe(true);
        expect(value.decimalPlaces()).toBeLessThanOrEqual(18);
      }),
    );
  });
});

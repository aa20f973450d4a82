import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { COUNT_EVENTS, type AggregationType } from './aggregation.js';
import { plain, type Decimal } from './number/decimal.js';
import { compileValueRule, type ValueRule } from './event-value.js';
import { isLater, type EventTally, type UsageCell } from './minute-values.js';
import { addTally, createUsageCell } from './usage-cell.js';
import { decimalText, SCALE, scaledValue } from '../load-tests/harness/value-reference.js';

const ruleOf = (type: AggregationType): ValueRule =>
  compileValueRule({ ...COUNT_EVENTS, type, field: 'n' }, (text) => text);

type Drawn = { readonly text: string; readonly atMs: number; readonly receivedMs: number };

function tallyOf({ text, atMs, receivedMs }: Drawn, index: number): EventTally {
  const place = { atMs, receivedMs, eventId: `id-${index}` };
  return { texts: [text], count: 1, timeSumMs: atMs, place };
}

function cellOf(type: AggregationType, tallies: readonly EventTally[]): UsageCell {
  const cell = createUsageCell(type);
  for (const tally of tallies) addTally(cell, ruleOf(type), tally);
  return cell;
}

const scaled = (value: Decimal): bigint => BigInt(value.times(SCALE.toString()).toFixed());
const drawnEvents = fc.array(
  fc.record({
    text: fc.oneof(decimalText, fc.constantFrom('a', 'b', '')),
    atMs: fc.integer({ min: 0, max: 3 }),
    receivedMs: fc.integer({ min: 1, max: 2 }),
  }),
  { maxLength: 30 },
);

function referenceOf({ text }: Drawn): bigint {
  return /^[ab]?$/.test(text) ? 0n : (scaledValue(text, null) ?? 0n);
}
const isReadable = (text: string): boolean =>
  !/^[ab]?$/.test(text) && scaledValue(text, null) !== null;
const leastOf = ([first, ...others]: readonly bigint[]): bigint | null =>
  first === undefined ? null : others.reduce((min, one) => (one < min ? one : min), first);
const positive = (value: bigint): bigint => (value < 0n ? 0n : value);
const sum = (values: readonly bigint[]): bigint => values.reduce((total, one) => total + one, 0n);

describe('a usage cell', () => {
  it('adds up exactly, as whole numbers do', () => {
    fc.assert(
      fc.property(drawnEvents, (events) => {
        const tallies = events.map(tallyOf);
        const values = events.map(referenceOf);
        expect(scaled(cellOf('SUM', tallies).valueSum)).toBe(sum(values.map(positive)));
        const weighted = cellOf('WEIGHTED_SUM', tallies);
        expect(scaled(weighted.valueSum)).toBe(sum(values));
        expect(scaled(weighted.valueTimeSum)).toBe(
          sum(events.map((event) => referenceOf(event) * BigInt(event.atMs))),
        );
        expect(scaled(cellOf('MAX', tallies).valueMax)).toBe(
          values.reduce((max, value) => (value > max ? value : max), 0n),
        );
        const readable = events
          .filter(({ text }) => isReadable(text))
          .map((event) => positive(referenceOf(event)));
        const { valueMin } = cellOf('MIN', tallies);
        expect(valueMin === null ? null : scaled(valueMin)).toBe(leastOf(readable));
        expect(cellOf('COUNT', tallies).eventCount).toBe(events.length);
        const texts = new Set(events.map((event) => event.text));
        expect(cellOf('COUNT_UNIQUE', tallies).uniques).toEqual(texts);
      }),
    );
  });

  it('is the same in any order, and of tallies as of single events', () => {
    const types = fc.constantFrom<AggregationType>('SUM', 'WEIGHTED_SUM', 'MAX', 'MIN', 'LATEST');
    fc.assert(
      fc.property(types, drawnEvents, fc.integer({ min: 1, max: 5 }), (type, events, times) => {
        const tallies = events.map(tallyOf);
        const repeated = tallies.flatMap((tally) => Array.from({ length: times }, () => tally));
        const bundled = tallies.map((tally) => ({
          ...tally,
          count: times,
          timeSumMs: BigInt(tally.timeSumMs) * BigInt(times),
        }));
        expect(cellOf(type, bundled.toReversed())).toEqual(cellOf(type, repeated));
      }),
    );
  });

  it('keeps the value with the greatest timestamp, then receipt, then id', () => {
    fc.assert(
      fc.property(drawnEvents, (events) => {
        const places = events.map((event, index) => ({ ...event, index }));
        const [last] = places.sort(
          (left, right) =>
            right.atMs - left.atMs ||
            right.receivedMs - left.receivedMs ||
            (`id-${right.index}` > `id-${left.index}` ? 1 : -1),
        );
        const { latest } = cellOf('LATEST', events.map(tallyOf));
        expect(latest?.eventId ?? null).toBe(last === undefined ? null : `id-${last.index}`);
        expect(scaled(latest?.value ?? ruleOf('SUM').valueOf(['0']).value)).toBe(
          last === undefined ? 0n : positive(referenceOf(last)),
        );
      }),
    );
  });

  it('counts unreadable values apart', () => {
    const tallies = ['1', 'x', '', '1e99'].map((text, index) =>
      tallyOf({ text, atMs: 0, receivedMs: 1 }, index),
    );
    const { unreadableCount, eventCount, valueSum } = cellOf('AVG', tallies);
    expect([unreadableCount, eventCount, plain(valueSum)]).toEqual([3, 4, '1']);
  });
});

describe('isLater', () => {
  const later = (left: string, right: string): boolean =>
    isLater({ atMs: 1, receivedMs: 1, eventId: left }, { atMs: 1, receivedMs: 1, eventId: right });

  it('orders ids by the bytes of their UTF-8, as ClickHouse does', () => {
    const bytes = new TextEncoder();
    const text = fc.string({
      unit: fc.oneof(fc.constantFrom('\uFF5E', '\u{1F600}', 'a'), fc.string()),
    });
    fc.assert(
      fc.property(text, text, (left, right) => {
        // A lone surrogate has no bytes of its own; decoding refuses it.
        fc.pre(![left, right].some((id) => /\p{Surrogate}/u.test(id)));
        const order = Buffer.compare(bytes.encode(left), bytes.encode(right));
        expect([later(left, right), later(right, left)]).toEqual([order > 0, order < 0]);
      }),
    );
  });
});

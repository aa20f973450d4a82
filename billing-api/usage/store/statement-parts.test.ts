import { describe, expect, it } from 'vitest';
import { COUNT_EVENTS } from '../../../contract/aggregation.js';
import { DAY_MS } from '../../../contract/instant.js';
import { NO_SPLIT } from '../../domain/usage/aggregation-spec.js';
import type { CellQuery } from './cell-query.js';
import {
  KEYS_PER_STATEMENT_MAX,
  KINDS_PER_STATEMENT_MAX,
  STATEMENT_BYTES_MAX,
  statementPartsOf,
  statementsOf,
} from './statement-parts.js';

const customerOf = (number: number) =>
  ({ kind: 'only', keys: [`e:${number}`, `i:${number}`] }) as const;

/** A query of a customer about a meter; queries about the same meter are one kind. */
function queryOf(customers: CellQuery['customers'], meter: number): CellQuery {
  return {
    customers,
    subject: {
      eventName: 'call',
      filters: [],
      aggregation: COUNT_EVENTS,
      ends: null,
      corrections: [],
      minutes: { meterId: `meter_${meter}`, generations: [meter] },
    },
    window: { startMs: 0, endMs: DAY_MS },
    narrowedBy: [],
    sources: null,
    split: NO_SPLIT,
    isFirstSlotOnly: false,
    // A list of its own for each query, as lines of different invoices have them.
    slots: [0, DAY_MS / 2],
  };
}

const sizesOf = (queries: readonly CellQuery[]): readonly number[] =>
  statementPartsOf({ queries, bound: null }).map(({ from, to }) => to - from);
const times = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, index) => make(index));

describe('the queries of one statement', () => {
  it('are at most 200 where all are about the same customers', () => {
    const same = customerOf(1);
    const ofOne = (count: number) => sizesOf(times(count, () => queryOf(same, 1)));
    expect(ofOne(0)).toEqual([]);
    expect(ofOne(KINDS_PER_STATEMENT_MAX - 1)).toEqual([199]);
    expect(ofOne(KINDS_PER_STATEMENT_MAX)).toEqual([200]);
    expect(ofOne(KINDS_PER_STATEMENT_MAX + 1)).toEqual([200, 1]);
  });

  it('are of at most 200 kinds where they are about many customers', () => {
    const kinds = (count: number) =>
      sizesOf(times(1_000, (at) => queryOf(customerOf(at), at % count)));
    expect(kinds(KINDS_PER_STATEMENT_MAX - 1)).toEqual([1_000]);
    expect(kinds(KINDS_PER_STATEMENT_MAX)).toEqual([1_000]);
    // Every further kind begins a statement, in which the kinds before are new again.
    expect(kinds(KINDS_PER_STATEMENT_MAX + 1)).toEqual([200, 200, 200, 200, 200]);
  });

  it('name at most 10 000 customer keys', () => {
    const most = KEYS_PER_STATEMENT_MAX / 2;
    const ofMany = (count: number) => sizesOf(times(count, (at) => queryOf(customerOf(at), 1)));
    expect(ofMany(most - 1)).toEqual([most - 1]);
    expect(ofMany(most)).toEqual([most]);
    expect(ofMany(most + 1)).toEqual([most, 1]);
  });

  it('are at least one, however many keys its customers have', () => {
    const crowd = { kind: 'only', keys: times(KEYS_PER_STATEMENT_MAX + 1, String) } as const;
    expect(sizesOf([queryOf(crowd, 1), queryOf(customerOf(1), 1)])).toEqual([1, 1]);
  });

  it('are halved until the server takes their text', () => {
    const sizesFor = (bytes: number) => {
      const batch = { queries: times(4, () => queryOf(customerOf(1), 1)), bound: null };
      const write = ({ from, to }: { readonly from: number; readonly to: number }) => ({
        text: ' '.repeat((to - from) * bytes),
        size: to - from,
      });
      return [...statementsOf(batch, write)].map(({ size }) => size);
    };
    const most = STATEMENT_BYTES_MAX / 4;
    expect(sizesFor(most - 1)).toEqual([4]);
    expect(sizesFor(most)).toEqual([4]);
    expect(sizesFor(most + 1)).toEqual([2, 2]);
    // One query alone is never cut: the server refuses it.
    expect(sizesFor(STATEMENT_BYTES_MAX + 1)).toEqual([1, 1, 1, 1]);
  });
});

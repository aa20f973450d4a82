import { describe, expect } from 'vitest';
import { COUNT_EVENTS } from '../../../contract/aggregation.js';
import { test } from '../../../load-tests/harness/fixtures.js';
import { AssertionFailed } from '../../../runtime/failure.js';
import { NO_SPLIT, type CellSeries } from '../../domain/usage/aggregation-spec.js';
import { cellOfCount } from '../../domain/usage/window-cell.js';
import type { CellQuery } from '../store/cell-query.js';
import type { UsageReader } from '../store/usage-reader.js';
import { readerBelow } from './read-below.js';

const queryOf = (meterId: string): CellQuery => ({
  customers: { kind: 'only', keys: ['e:a'] },
  subject: {
    eventName: 'call',
    filters: [],
    aggregation: COUNT_EVENTS,
    minutes: { meterId, generations: [1] },
    ends: null,
    corrections: [],
  },
  window: { startMs: 0, endMs: 60_000 },
  narrowedBy: [],
  sources: null,
  slots: null,
  split: NO_SPLIT,
  isFirstSlotOnly: false,
});
const BATCH = {
  environment: { tenantId: 'tenant_1', environmentId: 'env_1' },
  queries: [queryOf('meter_1'), queryOf('meter_2')],
  bound: null,
} as const;
const SERIES: readonly CellSeries[] = [
  { source: '', group: '', texts: [], slots: [0], cells: [cellOfCount(1)] },
];

/** A reader that answers so many of the queries. */
const answering = (count: number): UsageReader => ({
  read: ({ queries }) => Promise.resolve(queries.slice(0, count).map(() => SERIES)),
  findLateEvents: ({ queries }) => Promise.resolve(queries.map(() => null)),
  readEverybody: () => Promise.resolve(null),
  listCustomerKeys: () => Promise.resolve([]),
});

describe('usage below the ends', () => {
  test('is what the reader found for each query', async ({ database: { database } }) => {
    const reader = readerBelow({ database, usage: answering(2) }, []);
    expect(await reader.read(BATCH)).toEqual([SERIES, SERIES]);
  });

  test('fails when the reader left a query out, in place of a usage of 0', async ({
    database: { database },
  }) => {
    const reader = readerBelow({ database, usage: answering(1) }, []);
    await expect(reader.read(BATCH)).rejects.toThrow(AssertionFailed);
  });
});

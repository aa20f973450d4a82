import { describe, expect, test, vi } from 'vitest';
import { NO_SPLIT } from '../../domain/usage/aggregation-spec.js';
import { Refusal, Refused } from '../../records/refusal.js';
import type { CellQuery, CellQueryBatch } from '../store/cell-query.js';
import type { UsageReader } from '../store/usage-reader.js';
import { refuseExpiredUsage } from './refuse-expired-usage.js';

const START = Date.UTC(2026, 0, 10);
const query: CellQuery = {
  customers: { kind: 'only', keys: ['e:acme'] },
  subject: {
    eventName: 'call',
    filters: [],
    aggregation: { type: 'COUNT', field: null, expression: null, multiplier: null, groupBy: null },
    minutes: { meterId: 'meter_1', generations: [1] },
    ends: null,
    corrections: [],
  },
  window: { startMs: START, endMs: START + 3_600_000 },
  narrowedBy: [],
  sources: null,
  slots: null,
  split: NO_SPLIT,
  isFirstSlotOnly: false,
};

const batchOf = (eventsFrom: CellQueryBatch['bound']): CellQueryBatch => ({
  environment: { tenantId: 'tenant_1', environmentId: 'env_1' },
  queries: [query],
  bound: eventsFrom,
});

describe('a reader that refuses expired usage', () => {
  const read = vi.fn<UsageReader['read']>(() => Promise.resolve([]));
  const expired = new Refused(new Refusal('invalid_operation', 'removed'));
  const reader = refuseExpiredUsage({ read } as unknown as UsageReader, {
    assertStored: (_environment, questions) =>
      questions.length === 0 ? Promise.resolve() : Promise.reject(expired),
  });

  test('reads whole minutes without asking what has expired', async () => {
    expect(await reader.read(batchOf({ ends: [], eventsFrom: new Map() }))).toEqual([]);
  });

  test('says that it can be tried again when late events alone make raw events necessary', async () => {
    const bound = { ends: [], eventsFrom: new Map([[query, START + 60_000]]) };
    await expect(reader.read(batchOf(bound))).rejects.toMatchObject({
      refusal: { code: 'service_unavailable' },
    });
    const inside = { ...query, window: { startMs: START + 1, endMs: START + 3_600_000 } };
    const asked = { ...batchOf({ ends: [], eventsFrom: new Map() }), queries: [inside] };
    await expect(reader.read(asked)).rejects.toBe(expired);
  });
});

import { describe, expect, it } from 'vitest';
import { encodeEventRecord, type UsageEvent } from '../../contract/usage-event.js';
import type { LogRecord, ReadRequest } from '../../event-log/event-log.js';
import { fetchBatch, limitsOfBatch } from './fetch-batch.js';

const event = (eventId: string): UsageEvent => ({
  eventId,
  eventName: 'request',
  externalCustomerId: 'acme',
  customerId: null,
  source: '',
  timestampMs: 60_000,
  isTimestampGiven: true,
  properties: {},
});

/** Record `offset` holds as many events as the list says there. */
function logOf(eventCounts: readonly number[]) {
  const handedOut: number[] = [];
  const records = eventCounts.map((count, offset): LogRecord => {
    const events = Array.from({ length: count }, (_, index) => event(`${offset}-${index}`));
    const environment = { tenantId: 't', environmentId: 'e' };
    const value = encodeEventRecord({ environment, receivedAtMs: 7, events });
    return { offset, appendedAtMs: 9, value };
  });
  const read = ({ fromOffset, recordsMax }: ReadRequest): Promise<readonly LogRecord[]> => {
    const given = records.slice(fromOffset, fromOffset + recordsMax);
    handedOut.push(...given.map(({ offset }) => offset));
    return Promise.resolve(given);
  };
  return { read, handedOut };
}

async function fetched(eventCounts: readonly number[], eventsMax: number) {
  const { read, handedOut } = logOf(eventCounts);
  const outcome = await fetchBatch(
    {
      partition: 0,
      log: { read },
      catalog: { latest: () => Promise.resolve({ version: 1, meters: new Map() }) },
      limits: { eventsMax, flushDelayMs: 10_000 },
      partitionsRunning: () => 1,
      signal: new AbortController().signal,
    },
    { kind: 'fetch', from: 0, catalogVersionMin: 1 },
  );
  const records = outcome.kind === 'fetched' ? outcome.records : [];
  return { offsets: records.map(({ offset }) => offset), handedOut };
}

describe('fetchBatch', () => {
  it('ends before the record that would be too much, and asks the log for no more', async () => {
    const whole = await fetched([4, 4, 4, 4], 12);
    expect(whole).toEqual({ offsets: [0, 1, 2], handedOut: [0, 1, 2] });
    const below = await fetched([4, 4, 4, 4], 11);
    expect(below).toEqual({ offsets: [0, 1], handedOut: [0, 1] });
  });

  it('takes a first record of any size', async () => {
    expect((await fetched([20, 1], 12)).offsets).toEqual([0]);
  });

  it('ends with the log', async () => {
    expect((await fetched([1, 3], 12)).offsets).toEqual([0, 1]);
  });
});

describe('limitsOfBatch', () => {
  const limits = { eventsMax: 50_000, flushDelayMs: 200 };

  it.each([
    [0, 50_000, 200],
    [1, 50_000, 200],
    [4, 12_500, 200],
    [5, 10_000, 250],
    [50, 1_000, 2_500],
    [64, 1_000, 3_200],
  ])('shares what a process may hold: %i partitions', (partitions, eventsMax, flushDelayMs) => {
    expect(limitsOfBatch(limits, partitions)).toEqual({ eventsMax, flushDelayMs });
  });

  it('never gives more than is allowed', () => {
    expect(limitsOfBatch({ ...limits, eventsMax: 100 }, 4).eventsMax).toBe(100);
  });
});

import { describe, expect, vi } from 'vitest';
import type { EventLogReader } from '../../event-log/interface/event-log.js';
import { createMetrics, type Metrics } from '../../runtime/metrics.js';
import { eventOf, PARTITIONS, recordOf, send, test, totals } from '../testing/aggregator-world.js';

const WAIT = { timeout: 15_000, interval: 50 };
const ALL = Array.from({ length: PARTITIONS }, (_, partition) => String(partition));

/** The partitions whose lag a process shows. */
async function shownBy({ partitionLag }: Metrics): Promise<readonly string[]> {
  const { values } = await partitionLag.get();
  return values.map(({ labels }) => String(labels.partition)).sort();
}

/** A log that, after `hold`, tells nobody where it ends until `answer` is called. */
function holdEnds(reader: EventLogReader) {
  let held: Promise<void> | null = null;
  let answer = (): void => undefined;
  let asked = 0;
  const log: EventLogReader = {
    identity: reader.identity,
    read: (request) => reader.read(request),
    bounds: (partition) => reader.bounds(partition),
    ends: async () => {
      if (held !== null) asked += 1;
      await held;
      return reader.ends();
    },
    commit: (partition, nextOffset) => reader.commit(partition, nextOffset),
    release: (partition) => reader.release(partition),
    ping: () => reader.ping(),
    close: () => reader.close(),
  };
  const hold = (): void => {
    held = new Promise((resolve) => {
      answer = resolve;
    });
  };
  return { log, hold, answer: () => answer(), asked: () => asked };
}

// The alert adds up the lags that all processes show (docs/monitoring/alerts.yml).
describe('the lag of a partition', () => {
  test('is shown by its owner alone, before and after it moves', async ({ world }) => {
    const [first, second] = [createMetrics(), createMetrics()];
    await world.startAggregator(undefined, world.reader, first);
    await vi.waitFor(async () => expect(await shownBy(first)).toEqual(ALL), WAIT);
    const other = await world.startAggregator(undefined, world.reader, second);
    await vi.waitFor(async () => {
      const [kept, taken] = [await shownBy(first), await shownBy(second)];
      expect([kept.length, taken.length]).toEqual([1, 1]);
      expect([...kept, ...taken].sort()).toEqual(ALL);
    }, WAIT);
    await other.close();
    expect(await shownBy(second)).toEqual([]);
    await vi.waitFor(async () => expect(await shownBy(first)).toEqual(ALL), WAIT);
  });

  test('is not shown when the log tells it after the partition was given up', async ({ world }) => {
    const { log, hold, answer, asked } = holdEnds(world.reader);
    const metrics = createMetrics();
    const aggregator = await world.startAggregator(undefined, log, metrics);
    const events = ['a', 'b', 'c', 'd'].map((id) => eventOf(id));
    expect(new Set(events.map((event) => recordOf(event).partition)).size).toBe(PARTITIONS);
    await send(world.writer, events);
    await vi.waitFor(async () => {
      expect((await totals(world.clickhouse)).ids).toBe(events.length);
      expect(await shownBy(metrics)).toEqual(ALL);
    }, WAIT);
    hold();
    await vi.waitFor(() => expect(asked()).toBeGreaterThan(0), WAIT);
    const closing = aggregator.close();
    try {
      await vi.waitFor(async () => expect(await shownBy(metrics)).toEqual([]), WAIT);
    } finally {
      answer();
      await closing;
    }
    expect(await shownBy(metrics)).toEqual([]);
  });
});

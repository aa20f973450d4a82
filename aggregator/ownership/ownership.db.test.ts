import { describe, expect, vi } from 'vitest';
import { encodeEventRecord } from '../../contract/usage-event.js';
import {
  OffsetOutOfRange,
  type EventLogReader,
  type EventLogWriter,
} from '../../event-log/interface/event-log.js';
import { openPostgresReader } from '../../event-log/postgres/reader.js';
import { openPostgresWriter } from '../../event-log/postgres/writer.js';
import { createOneServer } from '../../clickhouse/one-server.js';
import { test as base } from '../../load-tests/harness/fixtures.js';
import { DependencyError } from '../../runtime/failure.js';
import { createLog } from '../../runtime/log.js';
import { createMetrics, type Metrics } from '../../runtime/metrics.js';
import { createProcessFlushes } from '../flush/process-flushes.js';
import { createCatalogReader } from '../gather/catalog.js';
import { IdFilterCache } from '../dedup/id-filter-cache.js';
import { IdLookUps } from '../write/id-look-ups.js';
import { UsageWriter } from '../write/usage-writer.js';
import { createCheckpointStore } from '../checkpoints/checkpoint-store.js';
import { createMembership, type Membership } from './membership.js';
import { runPartition, type PartitionRun } from './run-partition.js';

const PARTITIONS = 6;
const WAIT = { timeout: 30_000, interval: 50 };

type Member = {
  readonly membership: Membership;
  /** Runs a partition as this member, without asking who should. */
  readonly run: (changes: Partial<PartitionRun>) => PartitionRun;
};
type World = {
  readonly writer: EventLogWriter;
  readonly reader: EventLogReader;
  readonly member: (memberId: string) => Member;
};

const test = base.extend<{ readonly world: World }>({
  world: async ({ database: { url, database }, clickhouse: { client } }, use) => {
    const options = { url, partitionCount: PARTITIONS, produceTimeoutMs: 5_000 };
    const writer = await openPostgresWriter(options);
    const reader = await openPostgresReader({ url, retentionMs: 3_600_000 });
    const { logId } = reader.identity;
    const member = (memberId: string): Member => {
      const shared = {
        log: reader,
        checkpoints: createCheckpointStore(database, { log: logId, memberId }),
        catalog: createCatalogReader(database, () => performance.now()),
        clickhouse: client,
        server: createOneServer(database, client),
        limits: { eventsMax: 100, flushDelayMs: 1 },
        partitionsRunning: () => 1,
      };
      const common: Omit<PartitionRun, 'member'> = {
        ...shared,
        partition: 0,
        writer: new UsageWriter(client, logId, 0),
        lookUps: new IdLookUps(client, logId),
        filter: new IdFilterCache({
          clickhouse: client,
          identity: reader.identity,
          falsePositiveRate: 0.01,
          previousLogs: () => Promise.resolve([]),
        }).take(0),
        eventsMax: 100,
        charactersMax: () => 1_000_000,
        signal: new AbortController().signal,
        logger: createLog('test', 'silent'),
        metrics: createMetrics(),
      };
      return {
        membership: createMembership(database, logId, memberId),
        run: (changes) => {
          const run = { ...common, ...changes };
          const { log, partition, signal } = run;
          const member = createProcessFlushes({ ...shared, log }).memberOf(partition, signal);
          return { ...run, member };
        },
      };
    };
    await createCheckpointStore(database, { log: logId, memberId: 'first' }).ensure(
      Array.from({ length: PARTITIONS }, () => 0),
    );
    await use({ writer, reader, member });
    await reader.close();
    await writer.close();
  },
});

const EVENT = encodeEventRecord({
  environment: { tenantId: 'tenant_1', environmentId: 'env_1' },
  receivedAtMs: 1_000,
  events: [
    {
      eventId: 'id-1',
      eventName: 'request',
      externalCustomerId: 'acme',
      customerId: null,
      source: 'web',
      timestampMs: 2_000,
      isTimestampGiven: true,
      properties: {},
    },
  ],
});

const ALL = Array.from({ length: PARTITIONS }, (_, partition) => ({ partition, from: null }));

describe('the owners in PostgreSQL', () => {
  test('are one a partition, however many claim it at once', async ({ world }) => {
    const members = ['a', 'b', 'c'].map(world.member);
    const claimed = await Promise.all(members.map(({ membership }) => membership.claim(ALL)));
    expect(claimed.flat().sort()).toEqual(ALL.map(({ partition }) => partition));
    const owners = await Promise.all(
      members.map(async ({ membership }, index) => {
        const { holdings } = await membership.beat(false);
        const mine = holdings.flatMap(({ owner }, at) =>
          owner === membership.memberId ? [at] : [],
        );
        expect(mine).toEqual([...(claimed[index] ?? [])].sort());
        return mine.length;
      }),
    );
    expect(owners.reduce((sum, count) => sum + count, 0)).toBe(PARTITIONS);
  });

  test('change only from the owner that was seen, and are released by themselves only', async ({
    world,
  }) => {
    const [a, b] = [world.member('a').membership, world.member('b').membership];
    expect(await a.claim([{ partition: 2, from: null }])).toEqual([2]);
    expect(await b.claim([{ partition: 2, from: null }])).toEqual([]);
    await b.release(2, false);
    expect((await b.beat(false)).holdings[2]).toEqual({ owner: 'a', keptBy: null });
    await a.release(2, true);
    expect((await b.beat(false)).holdings[2]).toEqual({ owner: null, keptBy: 'a' });
    expect(await b.claim([{ partition: 2, from: null }])).toEqual([2]);
    expect(await a.claim([{ partition: 2, from: 'b' }])).toEqual([2]);
    expect((await b.beat(false)).holdings[2]).toEqual({ owner: 'a', keptBy: null });
  });

  test('are listed as leaving once they say so, and as gone once they left', async ({ world }) => {
    const [a, b] = [world.member('a').membership, world.member('b').membership];
    await a.beat(false);
    expect(await b.beat(false)).toMatchObject({ members: ['a', 'b'], leaving: [] });
    await a.beat(true);
    expect(await b.beat(false)).toMatchObject({ members: ['b'], leaving: ['a'] });
    // A beat that was under way when it began to leave does not bring it back.
    await a.beat(false);
    expect(await b.beat(false)).toMatchObject({ members: ['b'], leaving: ['a'] });
    await a.leave();
    expect(await b.beat(false)).toMatchObject({ members: ['b'], leaving: [] });
  });

  test('are the only ones who can take their partition', async ({ world }) => {
    const [a, b] = [world.member('a'), world.member('b')];
    await a.membership.claim(ALL);
    const { checkpoints } = a.run({});
    expect(await runPartition(b.run({}))).toBe('lost');
    expect((await checkpoints.read(0)).epoch).toBe(0);
  });
});

describe('an owner whose log does not have the next offset', () => {
  test.for([
    ['ends before it', { startOffset: 0, endOffset: 0 }, 'log_shorter_than_checkpoint'],
    ['begins behind it', { startOffset: 2, endOffset: 9 }, 'log_start_beyond_checkpoint'],
    ['lacks it', { startOffset: 0, endOffset: 9 }, 'log_record_missing'],
  ] as const)('halts and says that the log %s', async ([, bounds, reason], { world }) => {
    const owner = world.member('a');
    await owner.membership.claim(ALL);
    await world.writer.append([{ partition: 0, key: 'k', value: EVENT }]);
    const { reader } = world;
    let isReplaced = false;
    const log: EventLogReader = {
      identity: reader.identity,
      // Another log is put in its place once the first record is finished.
      read: (request) =>
        isReplaced
          ? Promise.reject(new OffsetOutOfRange(0, request.fromOffset, bounds))
          : reader.read(request),
      bounds: (partition) => reader.bounds(partition),
      ends: () => reader.ends(),
      commit: (partition, nextOffset) => {
        isReplaced = true;
        return reader.commit(partition, nextOffset);
      },
      release: (partition) => reader.release(partition),
      ping: () => reader.ping(),
      close: () => reader.close(),
    };
    expect(await runPartition(owner.run({ log }))).toEqual({ halted: reason });
  });
});

async function takesAfterUnknown({ partitionTakes }: Metrics): Promise<number> {
  const { values } = await partitionTakes.get();
  return values.find(({ labels }) => labels.reason === 'unknown_outcome')?.value ?? 0;
}

describe('an owner whose look-up of ids fails', () => {
  // A read is tried four times. The first take is not counted, since nothing had failed.
  test.for([
    ['goes on under its epoch while a try is left', { failures: 3, isRetryable: true, takes: 0 }],
    ['takes the partition again after the last try', { failures: 4, isRetryable: true, takes: 1 }],
    [
      'takes it again at once when no retry can help',
      { failures: 1, isRetryable: false, takes: 1 },
    ],
  ] as const)('%s', async ([, { failures, isRetryable, takes }], { world }) => {
    const owner = world.member('a');
    await owner.membership.claim(ALL);
    const stop = new AbortController();
    const common = owner.run({ signal: stop.signal });
    let lookUps = 0;
    const run = owner.run({
      signal: stop.signal,
      retryDelayMs: () => 1,
      lookUps: {
        find: (question) => {
          lookUps += 1;
          if (lookUps > failures) return common.lookUps.find(question);
          const facts = { dependency: 'clickhouse', isRetryable } as const;
          return Promise.reject(new DependencyError('no answer', facts));
        },
      },
    });
    const running = runPartition(run);
    await world.writer.append([{ partition: 0, key: 'k', value: EVENT }]);
    await vi.waitFor(async () => {
      expect((await run.checkpoints.read(0)).nextOffset).toBe(1);
    }, WAIT);
    stop.abort();
    expect(await running).toBe('released');
    expect(lookUps).toBe(failures + 1);
    expect((await run.checkpoints.read(0)).epoch).toBe(1 + takes);
    expect(await takesAfterUnknown(run.metrics)).toBe(takes);
  });
});

describe('an owner that was paused', () => {
  test('sees what its successor wrote and stands down without an alarm', async ({ world }) => {
    const [a, b] = [world.member('a'), world.member('b')];
    await a.membership.claim(ALL);
    // The pause: after taking, gate and drain, in the middle of comparing the stores.
    let goOn: () => void = () => undefined;
    let isPaused = false;
    const paused = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const { reader } = world;
    const log: EventLogReader = {
      identity: reader.identity,
      read: (request) => reader.read(request),
      bounds: async (partition) => {
        isPaused = true;
        await paused;
        return reader.bounds(partition);
      },
      ends: () => reader.ends(),
      commit: (partition, nextOffset) => reader.commit(partition, nextOffset),
      release: (partition) => reader.release(partition),
      ping: () => reader.ping(),
      close: () => reader.close(),
    };
    const ending = runPartition(a.run({ log }));
    await vi.waitFor(() => {
      expect(isPaused).toBe(true);
    }, WAIT);
    await b.membership.claim([{ partition: 0, from: 'a' }]);
    const stop = new AbortController();
    const successor = b.run({ signal: stop.signal });
    const running = runPartition(successor);
    await world.writer.append([{ partition: 0, key: 'k', value: EVENT }]);
    await vi.waitFor(async () => {
      expect((await successor.checkpoints.read(0)).nextOffset).toBe(1);
    }, WAIT);
    stop.abort();
    expect(await running).toBe('released');
    goOn();
    expect(await ending).toBe('lost');
  });
});

import { afterAll, describe, expect, vi } from 'vitest';
import {
  createMeter,
  eventOf,
  readUsage,
  recordOf,
  send,
  test,
  WAIT,
} from '../../aggregator/testing/aggregator-world.js';
import { EVENT_LOG_SETTINGS, openEventLogWriter } from '../../event-log/open-log.js';
import { endOfProgram } from '../../load-tests/harness/end-of-program.js';
import { obtainKafka } from '../../load-tests/harness/kafka.js';
import { runVerb } from '../../load-tests/harness/run-verb.js';
import { startProgram } from '../../load-tests/harness/start-program.js';
import { readConfig } from '../../runtime/config.js';

const { kafka, skipReason } = await obtainKafka();
const title = kafka === null ? `a topic (skipped: ${skipReason})` : 'a topic';

afterAll(() => kafka?.stop());

describe.skipIf(kafka === null)(title, () => {
  test('takes the place of the log in PostgreSQL once that is closed, and is closed itself when all of it is counted', async ({
    world,
    database: { url: DATABASE_URL },
    clickhouse: { url: CLICKHOUSE_URL },
  }) => {
    const servers = { DATABASE_URL, CLICKHOUSE_URL };
    const onKafka = { ...servers, KAFKA_BROKERS: kafka?.brokers ?? '' };
    await createMeter(world.database, '[]');
    await send(world.writer, [eventOf('a'), eventOf('b')]);

    // 1. What was accepted would wait in PostgreSQL unseen.
    const early = await endOfProgram('aggregator', onKafka);
    expect([early.status, early.lines.at(-1)]).toEqual([
      1,
      expect.stringContaining('but 2 records of the log in PostgreSQL are not counted yet'),
    ]);
    const first = await world.startAggregator();
    await vi.waitFor(async () => expect(await readUsage(world)).toBe(2), WAIT);
    await first.close();
    expect(await runVerb(servers, 'log', 'close')).toMatchObject({ status: 0 });

    // 2. The topic counts on, and bars what was counted before.
    const config = readConfig([...EVENT_LOG_SETTINGS], onKafka);
    const writer = await openEventLogWriter({ ...config, DATABASE_URL });
    const { partitionCount } = writer.identity;
    await writer.append(
      ['a', 'c', 'd'].map((id) => recordOf(eventOf(id, { timestampMs: 1 }), partitionCount)),
    );
    const waiting = await runVerb(onKafka, 'log', 'close');
    expect([waiting.status, waiting.said.split(':')[0]]).toEqual([
      1,
      '3 records of the log are not counted yet',
    ]);
    const second = await startProgram('aggregator', { ...onKafka, MINUTEBOOK_LOG_LEVEL: 'error' });
    try {
      await vi.waitFor(async () => expect(await readUsage(world)).toBe(4), WAIT);
    } finally {
      await second.stop();
    }

    // 3. While somebody still writes, it is not closed.
    let isWriting = true;
    const writing = (async (): Promise<void> => {
      for (let number = 0; isWriting; number += 1) {
        await writer.append([recordOf(eventOf(`late ${number}`), partitionCount)]);
      }
    })();
    const beside = await runVerb(onKafka, 'log', 'close');
    isWriting = false;
    await writing;
    expect([beside.status, beside.said]).toEqual([
      1,
      expect.stringMatching(/^\d+ records of the log are not counted yet: stop ingest/),
    ]);
    const third = await startProgram('aggregator', { ...onKafka, MINUTEBOOK_LOG_LEVEL: 'error' });
    try {
      await vi.waitFor(
        async () =>
          expect((await third.metric('minutebook_partition_lag_records')).size).toBe(
            partitionCount,
          ),
        WAIT,
      );
      await vi.waitFor(async () => {
        const lags = await third.metric('minutebook_partition_lag_records');
        expect([...lags.values()].every((lag) => lag === 0)).toBe(true);
      }, WAIT);
    } finally {
      await third.stop();
    }
    expect(await runVerb(onKafka, 'log', 'close')).toEqual({
      status: 0,
      said: expect.stringMatching(
        /^Every record of log \S+ is counted \(12 partitions\)/,
      ) as string,
    });
    await writer.close();
  });

  test('is refused while another topic is in use, and takes its place once that is closed: what was counted on one counts on neither again', async ({
    world,
    database: { url: DATABASE_URL },
    clickhouse: { url: CLICKHOUSE_URL },
  }) => {
    await createMeter(world.database, '[]');
    const settingsOf = (topic: string) => ({
      DATABASE_URL,
      CLICKHOUSE_URL,
      MINUTEBOOK_LOG_LEVEL: 'error',
      KAFKA_BROKERS: kafka?.brokers ?? '',
      KAFKA_TOPIC: topic,
    });
    /** Sends to a topic, and counts until so many events are visible. */
    const count = async (topic: string, ids: readonly string[], events: number) => {
      const config = readConfig([...EVENT_LOG_SETTINGS], settingsOf(topic));
      const writer = await openEventLogWriter({ ...config, DATABASE_URL });
      const aggregator = await startProgram('aggregator', settingsOf(topic));
      try {
        const { partitionCount } = writer.identity;
        await writer.append(ids.map((id) => recordOf(eventOf(id), partitionCount)));
        await vi.waitFor(async () => expect(await readUsage(world)).toBe(events), WAIT);
      } finally {
        await Promise.all([aggregator.stop(), writer.close()]);
      }
    };
    await count('first.events', ['a', 'b'], 2);
    const stray = await endOfProgram('ingest', settingsOf('next.events'));
    expect([stray.status, stray.lines.at(-1)]).toEqual([
      1,
      expect.stringMatching(/log k-\S+ is in use, and this program was started on log k-/),
    ]);
    expect((await runVerb(settingsOf('first.events'), 'log', 'close')).status).toBe(0);
    await count('next.events', ['a', 'c'], 3);
    const old = await endOfProgram('ingest', settingsOf('first.events'));
    expect(old.status).toBe(1);
  });
});

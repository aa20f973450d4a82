import { afterAll, describe, expect } from 'vitest';
import { test } from '../../load-tests/harness/fixtures.js';
import { obtainKafka } from '../../load-tests/harness/kafka.js';
import { withAdmin } from '../../load-tests/harness/kafka-tools.js';
import { readConfig } from '../../runtime/config.js';
import { EVENT_LOG_SETTINGS, openEventLogReader, openEventLogWriter } from '../open-log.js';

const { kafka, skipReason } = await obtainKafka();
const title = kafka === null ? `two topics (skipped: ${skipReason})` : 'two topics on one broker';
const TOPICS = ['staging.events', 'production.events'] as const;

afterAll(async () => {
  for (const topic of TOPICS) {
    await withAdmin(kafka?.brokers ?? '', (admin, done) => {
      admin.deleteTopic(topic, 20_000, done);
    }).catch(() => undefined);
  }
  await kafka?.stop();
});

describe.skipIf(kafka === null)(title, () => {
  test('are two logs, and neither reads what was written to the other', async ({
    database: { url: DATABASE_URL },
  }) => {
    const logs = await Promise.all(
      TOPICS.map(async (topic) => {
        const settings = { KAFKA_BROKERS: kafka?.brokers ?? '', KAFKA_TOPIC: topic };
        const config = {
          ...readConfig([...EVENT_LOG_SETTINGS], { ...settings, MINUTEBOOK_LOG_PARTITIONS: '1' }),
          DATABASE_URL,
        };
        const writer = await openEventLogWriter(config, false);
        await writer.append([{ partition: 0, key: topic, value: `event of ${topic}` }]);
        return { writer, reader: await openEventLogReader(config) };
      }),
    );
    const read = await Promise.all(
      logs.map(({ reader }) =>
        reader.read({
          partition: 0,
          fromOffset: 0,
          recordsMax: 10,
          bytesMax: 1_000,
          waitMs: 5_000,
        }),
      ),
    );
    expect(read.map((records) => records.map(({ value }) => value))).toEqual(
      TOPICS.map((topic) => [`event of ${topic}`]),
    );
    expect(new Set(logs.map(({ writer }) => writer.identity.logId)).size).toBe(2);
    for (const { writer, reader } of logs) await Promise.all([writer.close(), reader.close()]);
  });
});

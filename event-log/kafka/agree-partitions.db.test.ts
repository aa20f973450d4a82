import { randomBytes } from 'node:crypto';
import { afterAll, describe, expect, vi } from 'vitest';
import { test } from '../../load-tests/harness/fixtures.js';
import { obtainKafka } from '../../load-tests/harness/kafka.js';
import { withAdmin } from '../../load-tests/harness/kafka-tools.js';
import { createAgreePartitions } from './agree-partitions.js';
import { openKafkaReader } from './reader.js';
import { openKafkaWriter } from './writer.js';

const WAIT = { timeout: 20_000, interval: 100 };

const { kafka, skipReason } = await obtainKafka();
const brokers = kafka?.brokers ?? '';
const title = kafka === null ? `altered topics (skipped: ${skipReason})` : 'altered topics';

afterAll(() => kafka?.stop());

describe('the agreed number of partitions', () => {
  test('is the first that was found, for whoever asks, by log', async ({ database: { url } }) => {
    const found = [4, 12, 24, 4, 8];
    const agreed = await Promise.all(found.map((one) => createAgreePartitions(url)('a', one)));
    expect(new Set(agreed).size).toBe(1);
    expect(found).toContain(agreed[0]);
    expect(await createAgreePartitions(url)('a', 100)).toBe(agreed[0]);
    expect(await createAgreePartitions(url)('b', 3)).toBe(3);
  });
});

describe.skipIf(kafka === null)(title, () => {
  test('keep the partitions with which the log was first opened', async ({ database: { url } }) => {
    const topic = `altered-${randomBytes(6).toString('hex')}`;
    const at = { brokers, topic, agreePartitions: createAgreePartitions(url) };
    const options = { ...at, produceTimeoutMs: 4_000 };
    const first = await openKafkaWriter({ ...options, partitionCount: 4 });
    expect(first.identity).toMatchObject({ partitionCount: 4, unusedPartitions: 0 });
    await withAdmin(brokers, (admin, done) => {
      admin.createPartitions(topic, 8, 20_000, done);
    });
    const agreed = { ...first.identity, unusedPartitions: 4 };
    // The broker lists the new partitions a little later than it confirms them.
    await vi.waitFor(async () => {
      const reader = await openKafkaReader(at);
      await reader.close();
      expect(reader.identity).toEqual(agreed);
    }, WAIT);
    const second = await openKafkaWriter({ ...options, partitionCount: 4 });
    expect(second.identity).toEqual(agreed);
    expect(() => second.append([{ partition: 5, key: 'k', value: '{}' }])).toThrow();
    await Promise.all([first.close(), second.close()]);
  });
});

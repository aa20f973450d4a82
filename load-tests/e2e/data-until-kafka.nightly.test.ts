import { randomBytes } from 'node:crypto';
import { afterAll, describe } from 'vitest';
import { test } from '../harness/fixtures.js';
import { obtainKafka } from '../harness/kafka.js';
import { ALL_PARTITIONS, ReceivingWorld, startWorld } from './receiving-world.js';

const { kafka, skipReason } = await obtainKafka();
afterAll(() => kafka?.stop());

describe.skipIf(kafka === null)(`data_until of Kafka ${skipReason ?? ''}`, () => {
  test('follows what is counted while events flow', async ({ database, clickhouse }) => {
    const topic = `test-${randomBytes(6).toString('hex')}`;
    const log = { KAFKA_BROKERS: kafka?.brokers ?? '', KAFKA_TOPIC: topic };
    const world = await ReceivingWorld.prepare({ database, clickhouse }, log);
    try {
      const [ingest, billingApi] = await startWorld(world);
      const stop = world.flow(ingest, ALL_PARTITIONS);
      for (let times = 0; times < 3; times += 1) await world.hasAll(billingApi);
      await stop();
      await world.hasAll(billingApi);
    } finally {
      await world.close();
    }
  });
});

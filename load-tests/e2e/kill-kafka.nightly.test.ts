import { afterAll, describe, test } from 'vitest';
import { obtainKafka } from '../harness/kafka.js';
import { withTestStack } from '../harness/test-stack.js';
import { countsExactlyUnderKills } from './kill-in-turns.js';

const { kafka, skipReason } = await obtainKafka();
afterAll(() => kafka?.stop());

// The same on the log in PostgreSQL is part of `npm test`, and so is the fault suite on Kafka.
describe(`on Kafka${skipReason === null ? '' : ` (skipped: ${skipReason})`}`, () => {
  test.skipIf(kafka === null)('the demo under kill -9 counts every request once', async () => {
    await withTestStack({ KAFKA_BROKERS: kafka?.brokers ?? '' }, countsExactlyUnderKills);
  });
});

import { afterAll, describe, test } from 'vitest';
import { obtainKafka } from '../harness/kafka.js';
import { withTestStack } from '../harness/test-stack.js';
import { withAggregatorWorld } from '../speed/questions/aggregator-world.js';
import { countsExactlyUnderKills } from './kill-in-turns.js';
import { sharesThroughPauseAndLeave } from './share-partitions.js';

const { kafka, skipReason } = await obtainKafka();
afterAll(() => kafka?.stop());

// The same on the log in PostgreSQL is part of `npm test`, and so is the fault suite on Kafka.
describe(`on Kafka${skipReason === null ? '' : ` (skipped: ${skipReason})`}`, () => {
  const settings = { KAFKA_BROKERS: kafka?.brokers ?? '' };

  test.skipIf(kafka === null)('the demo under kill -9 counts every request once', async () => {
    await withTestStack(settings, countsExactlyUnderKills);
  });

  test.skipIf(kafka === null)(
    'aggregators that share a log count once through a pause that moves partitions, and a leave',
    async () => {
      await withAggregatorWorld((world) => sharesThroughPauseAndLeave(world, settings));
    },
  );
});

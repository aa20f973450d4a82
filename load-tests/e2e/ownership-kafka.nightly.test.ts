import { afterAll, describe, test } from 'vitest';
import { obtainKafka } from '../harness/kafka.js';
import { withAggregatorWorld } from '../harness/aggregator-world.js';
import { sharesThroughPauseAndLeave } from './share-partitions.js';

// In a file of its own, and so with its own broker: this test needs another number of partitions.
const { kafka, skipReason } = await obtainKafka();
afterAll(() => kafka?.stop());

describe(`on Kafka${skipReason === null ? '' : ` (skipped: ${skipReason})`}`, () => {
  test.skipIf(kafka === null)(
    'aggregators that share a log count once through a pause that moves partitions, and a leave',
    async () => {
      const settings = { KAFKA_BROKERS: kafka?.brokers ?? '' };
      await withAggregatorWorld((world) => sharesThroughPauseAndLeave(world, settings));
    },
  );
});

import { describe, test } from 'vitest';
import { withAggregatorWorld } from '../harness/aggregator-world.js';
import { sharesThroughPauseAndLeave } from './share-partitions.js';

describe('aggregators that share a log', () => {
  test('count once through a pause that moves partitions, and a leave, in PostgreSQL', async () => {
    await withAggregatorWorld((world) => sharesThroughPauseAndLeave(world, {}));
  });
});

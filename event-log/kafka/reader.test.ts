import { expect, test } from 'vitest';
import { partitionBounds } from './reader.js';
import type { RdKafkaConsumer, RdKafkaError } from './rdkafka.js';

const failure = (code: number, message: string) => Object.assign(new Error(message), { code });
const NOT_LEADER = failure(6, 'Broker: Not leader for partition');

/** A driver whose broker answers with these errors first; it counts the questions. */
function driverWith(...errors: readonly RdKafkaError[]) {
  let questions = 0;
  return {
    questions: () => questions,
    queryWatermarkOffsets: (
      ...[, , , done]: Parameters<RdKafkaConsumer['queryWatermarkOffsets']>
    ): void => {
      done(errors[questions] ?? null, { lowOffset: 3, highOffset: 7 });
      questions += 1;
    },
  };
}

test('a partition that has no leader for a moment is asked again', async () => {
  const consumer = driverWith(NOT_LEADER, failure(5, 'no leader'));
  const bounds = await partitionBounds({ consumer, topic: 'log', partition: 2 });
  expect([bounds, consumer.questions()]).toEqual([{ startOffset: 3, endOffset: 7 }, 3]);
});

test.each([
  ['another failure is told at once', failure(-195, 'no broker'), 3_000],
  ['a partition that stays without a leader is an outage', NOT_LEADER, -1],
])('%s', async (_what, error, leaderWithinMs) => {
  const consumer = driverWith(error, error);
  const asking = partitionBounds({ consumer, topic: 'log', partition: 2, leaderWithinMs });
  await expect(asking).rejects.toMatchObject({
    name: 'DependencyError',
    isRetryable: true,
    message: `event log in Kafka: offsets of partition 2: ${error.message}`,
  });
  expect(consumer.questions()).toBe(1);
});

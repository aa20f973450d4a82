import { describe, expect, test } from 'vitest';
import { problemsOfTopic, warningsOfTopic, type FoundTopic } from './topic-problems.js';

const at = { brokers: 'kafka-1:9092', topic: 'usage.events.v1' };
const SETTINGS = {
  'message.timestamp.type': 'LogAppendTime',
  'cleanup.policy': 'delete',
  'unclean.leader.election.enable': 'false',
  'max.message.bytes': '2162688',
};

function found(
  brokerCount: number,
  replicas: number,
  settings: Readonly<Record<string, string>>,
): FoundTopic {
  const all = new Map(Object.entries({ ...SETTINGS, ...settings }));
  return { brokerCount, partitionCount: 12, replicas, settings: all };
}

const insync = (replicas: number) => ({ 'min.insync.replicas': String(replicas) });
const COMMAND =
  'kafka-configs.sh --bootstrap-server kafka-1:9092 --alter --entity-type topics --entity-name usage.events.v1 --add-config ';

describe('an existing topic', () => {
  test.each([
    ['one broker, one replica', undefined, found(1, 1, insync(1))],
    ['two brokers, two replicas', undefined, found(2, 2, insync(1))],
    ['three replicas, two of them in sync', undefined, found(5, 3, insync(2))],
    ['three replicas while two brokers are away', undefined, found(1, 3, insync(2))],
    ['one replica by setting', 1, found(3, 1, insync(1))],
    ['two replicas when a third broker joins', undefined, found(3, 2, insync(1))],
    ['two replicas that must both be in sync', undefined, found(2, 2, insync(2))],
  ])('serves as the log with %s', (_name, replicas, topic) => {
    expect(problemsOfTopic({ ...at, replicas }, topic)).toEqual([]);
  });

  test.each([
    [
      'it kept the one replica of the first broker',
      { topic: found(3, 1, insync(2)), replicas: undefined },
      [
        'has 1 replicas, but there are 3 brokers',
        'add replicas with "kafka-reassign-partitions.sh',
      ],
    ],
    [
      'it has fewer replicas than the setting, whatever is up',
      { topic: found(1, 1, insync(1)), replicas: 3 },
      ['MINUTEBOOK_LOG_REPLICAS is 3', 'set MINUTEBOOK_LOG_REPLICAS=1', 'min.insync.replicas=2'],
    ],
    [
      'one replica is enough to acknowledge',
      { topic: found(3, 3, insync(1)), replicas: undefined },
      ['has min.insync.replicas=1', `${COMMAND}min.insync.replicas=2`],
    ],
    [
      'it asks for more replicas in sync than it has',
      { topic: found(1, 1, insync(2)), replicas: undefined },
      ['so it takes no record', `${COMMAND}min.insync.replicas=1`],
    ],
    [
      'the largest record does not fit, as with the default of Kafka',
      {
        topic: found(1, 1, { ...insync(1), 'max.message.bytes': '1048588' }),
        replicas: undefined,
      },
      [`${COMMAND}max.message.bytes=2162688`],
    ],
    [
      'a replica that lags may lead',
      {
        topic: found(1, 1, { ...insync(1), 'unclean.leader.election.enable': 'true' }),
        replicas: undefined,
      },
      [`${COMMAND}unclean.leader.election.enable=false`],
    ],
    [
      'the broker hides its settings',
      { topic: found(1, 1, {}), replicas: undefined },
      ['min.insync.replicas=unknown'],
    ],
  ])('is refused when %s', (_name, { topic, replicas }, texts) => {
    const problems = problemsOfTopic({ ...at, replicas }, topic).join('\n');
    for (const text of [...texts, 'topic usage.events.v1']) expect(problems).toContain(text);
  });

  test('is warned about when a third broker joins', () => {
    const [warning, ...others] = warningsOfTopic(at, found(3, 2, insync(1)));
    expect(warning).toContain('has 2 replicas, but there are 3 brokers');
    expect(others).toEqual([]);
    expect(warningsOfTopic(at, found(2, 2, insync(1)))).toEqual([]);
    expect(warningsOfTopic(at, found(5, 3, insync(2)))).toEqual([]);
  });
});

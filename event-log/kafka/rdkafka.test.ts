import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../runtime/config.js';
import { brokerAddresses } from './describe.js';
import { loadRdKafka } from './rdkafka.js';

describe('the Kafka driver', () => {
  test('says what to install when it is missing', async () => {
    await expect(loadRdKafka('node-rdkafka-that-is-not-installed')).rejects.toThrow(ConfigError);
    await expect(loadRdKafka('node-rdkafka-that-is-not-installed')).rejects.toThrow(
      'npm install --include=optional',
    );
  });

  test('is refused when it is another package', async () => {
    await expect(loadRdKafka('node:path')).rejects.toThrow(ConfigError);
  });
});

describe('broker addresses', () => {
  test.each([
    ['kafka-1:9092,kafka-2:9093', ['kafka-1:9092', 'kafka-2:9093']],
    [' kafka-1 , kafka-2 ', ['kafka-1:9092', 'kafka-2:9092']],
    ['[::1]:19092', ['::1:19092']],
  ])('reads %s', (text, expected) => {
    expect(brokerAddresses(text).map(({ host, port }) => `${host}:${port}`)).toEqual(expected);
  });
});

import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../runtime/config.js';
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

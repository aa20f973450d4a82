import { describe, test } from 'vitest';
import { withTestStack } from '../harness/test-stack.js';
import { countsExactlyUnderKills } from './kill-in-turns.js';

describe('the demo under kill -9 of aggregator and ClickHouse', () => {
  test('counts every request once on the log in PostgreSQL', async () => {
    await withTestStack({}, countsExactlyUnderKills);
  });
});

import { describe, test } from 'vitest';
import { expectWalk } from './walk-test.js';

describe('many random corrections of events', () => {
  test('count as a small model of them says', async () => {
    await expectWalk({ steps: 400, withKills: false });
  });

  test('lose and double nothing while programs and ClickHouse are killed', async () => {
    await expectWalk({ steps: 100, withKills: true });
  });
});

import { describe, test } from 'vitest';
import { expectWalk } from './walk-test.js';

describe('random corrections of events', () => {
  test('count as a small model of them says', async () => {
    await expectWalk({ steps: 10, withKills: false });
  });
});

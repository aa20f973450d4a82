import { describe, expect, it } from 'vitest';
import { drawSeed } from '../../harness/draw-seed.js';
import { withTestStack } from '../../harness/test-stack.js';
import { runFuzzer } from './fuzz-run.js';

const CALLS = 400;

describe('the interface', () => {
  it('answers right and broken requests by its document and for one environment only', async () => {
    const seed = drawSeed();
    await withTestStack({}, async (stack) => {
      const run = await runFuzzer(stack, { seed, calls: CALLS });
      expect([seed, run.findings]).toEqual([seed, []]);
      // A run in which nothing succeeds would prove little.
      expect(run.succeeded.size).toBeGreaterThan(10);
      expect(run.called.size).toBeGreaterThan(40);
    });
  }, 120_000);
});

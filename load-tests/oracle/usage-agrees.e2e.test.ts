import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runAgreement } from './agreement/agreement-run.js';
import { startProduct, type Product } from './agreement/product.js';

/** As many as a minute holds; `npm run oracle -- --runs 1000` is the long run. */
const CASES = 24;
/** The cases of these seeds have found something once. */
const KNOWN_SEEDS: readonly number[] = [];

describe('usage over HTTP', () => {
  let product: Product;
  beforeAll(async () => {
    product = await startProduct();
  });
  afterAll(async () => {
    await product.close();
  });

  test('equals the answers of the oracle for random events, meters, zones and windows', async () => {
    const firstSeed = randomInt(2 ** 31);
    console.log(`oracle: seeds from ${firstSeed} on`);
    const run = await runAgreement(product, { firstSeed, cases: CASES });
    expect(run.disagreements.join('\n')).toBe('');
    // Not a run that asks nothing.
    expect(run.questions).toBeGreaterThan(CASES);
    expect(run.results).toBeGreaterThan(CASES);
  });

  test.each(KNOWN_SEEDS)('equals them for the case of seed %i', async (firstSeed) => {
    const { disagreements } = await runAgreement(product, { firstSeed, cases: 1 });
    expect(disagreements.join('\n')).toBe('');
  });
});

import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { PRICING_MUTATIONS } from './all-mutations.js';
import { testMutated, type Verdict } from './mutated-core.js';
import type { PricingMutation } from './mutation.js';

/**
 * `node dist/load-tests/proofs/mutations/pricing/main.js [--only TEXT]`: breaks one rule of the
 * pricing core at a time in a copy of its sources and runs the fast tests of `billing-api/domain`
 * there. Prints a row per mutation with the first test that failed and how many did; ends with
 * status 1 when a mutation was not caught, or when the tests fail without one.
 */
const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });

function rowOf({ name, rule }: PricingMutation, { failed }: Verdict): string {
  const [first = 'NOT CAUGHT'] = failed;
  const others = failed.length > 1 ? `and ${failed.length - 1} more` : '';
  return `| ${name} | ${rule} | ${first.replaceAll('|', '/')} ${others} |`;
}

async function tryAll(): Promise<boolean> {
  const control = await testMutated(null);
  if (control.failed.length > 0) {
    console.log(pc.red(`the tests fail without a mutation: ${control.failed[0] ?? ''}`));
    return false;
  }
  let missed = 0;
  const wanted = PRICING_MUTATIONS.filter(({ name }) => name.includes(values.only));
  for (const mutation of wanted) {
    const verdict = await testMutated(mutation);
    const isCaught = verdict.failed.length > 0;
    if (!isCaught) missed += 1;
    console.log((isCaught ? pc.green : pc.red)(rowOf(mutation, verdict)));
  }
  const caught = wanted.length - missed;
  console.log(`${caught} of ${wanted.length} caught; ${control.passedCount} tests pass without`);
  return missed === 0;
}

process.exitCode = (await tryAll()) ? 0 : 1;

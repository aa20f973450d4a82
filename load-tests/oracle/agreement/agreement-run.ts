import fc from 'fast-check';
import PQueue from 'p-queue';
import { runCase, type Disagreement } from './disagreements.js';
import { describeDisagreement } from './describe-disagreement.js';
import type { Product } from './product.js';
import { anyCase, type CaseSpec } from './random-case.js';

/** Cases wait for the product most of the time, and waiting can be shared. */
const CONCURRENT_CASES = 6;

export type AgreementRun = {
  readonly cases: number;
  readonly questions: number;
  readonly results: number;
  /** One text for every question that was answered differently, with the seed of its case. */
  readonly disagreements: readonly string[];
};

/** The case of a seed; the same on every machine. */
function caseOf(seed: number): CaseSpec {
  const [spec] = fc.sample(anyCase, { seed, numRuns: 1 });
  if (spec === undefined) throw new Error('no case was generated');
  return spec;
}

/** Runs the cases of `cases` seeds from `firstSeed` on against one product. */
export async function runAgreement(
  product: Product,
  {
    firstSeed,
    cases,
    onCase = () => undefined,
  }: {
    readonly firstSeed: number;
    readonly cases: number;
    readonly onCase?: (done: number) => void;
  },
): Promise<AgreementRun> {
  const queue = new PQueue({ concurrency: CONCURRENT_CASES });
  const disagreements: string[] = [];
  const totals = { questions: 0, results: 0, done: 0 };
  const runSeed = async (seed: number): Promise<void> => {
    const spec = caseOf(seed);
    const describeAll = (each: Disagreement): string => describeDisagreement(seed, each);
    try {
      const outcome = await runCase(product, spec);
      totals.questions += outcome.questions;
      totals.results += outcome.results;
      disagreements.push(...outcome.disagreements.map(describeAll));
    } catch (error) {
      disagreements.push(`seed ${seed}: ${String(error)}`);
    }
    totals.done += 1;
    onCase(totals.done);
  };
  const seeds = Array.from({ length: cases }, (_, index) => firstSeed + index);
  await queue.addAll(seeds.map((seed) => () => runSeed(seed)));
  return { cases, questions: totals.questions, results: totals.results, disagreements };
}

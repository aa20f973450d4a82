import fc from 'fast-check';
import PQueue from 'p-queue';
import { runCase } from './disagreements.js';
import { describeDisagreement } from './describe-disagreement.js';
import type { Product } from './product.js';
import { anyCase, type CaseSpec } from './random-case.js';

/** Cases wait for the product most of the time, and waiting can be shared. */
const CONCURRENT_CASES = 6;

export type AgreementRun = {
  readonly cases: number;
  readonly questions: number;
  /** Windows and groups in the answers. */
  readonly results: number;
  /** One text for every question that was answered differently, with the seed of its case. */
  readonly disagreements: readonly string[];
};

export type AgreementOptions = {
  /** Case number n is that of seed `firstSeed + n`, the same on every machine. */
  readonly firstSeed: number;
  readonly casesMax: number;
  /** No case is begun after this time. */
  readonly forMs: number;
  readonly onCase: (done: number) => void;
};

/** The case of a seed, the same on every machine. */
export function caseOf(seed: number): CaseSpec {
  const [spec] = fc.sample(anyCase, { seed, numRuns: 1 });
  if (spec === undefined) throw new Error('no case was generated');
  return spec;
}

type SeedOutcome = Omit<AgreementRun, 'cases'>;

async function runSeed(product: Product, seed: number): Promise<SeedOutcome> {
  try {
    const { disagreements, ...counts } = await runCase(product, caseOf(seed));
    const described = disagreements.map((each) => describeDisagreement(seed, each));
    return { ...counts, disagreements: described };
  } catch (error) {
    return { questions: 0, results: 0, disagreements: [`seed ${seed}: ${String(error)}`] };
  }
}

/** Runs random cases against one product, and says how far it agreed. */
export async function runAgreement(
  product: Product,
  { firstSeed, casesMax, forMs, onCase }: AgreementOptions,
): Promise<AgreementRun> {
  const queue = new PQueue({ concurrency: CONCURRENT_CASES });
  const outcomes: SeedOutcome[] = [];
  const endsAt = Date.now() + forMs;
  const seeds = Array.from({ length: casesMax }, (_, index) => firstSeed + index);
  await queue.addAll(
    seeds.map((seed) => async () => {
      if (Date.now() > endsAt) return;
      outcomes.push(await runSeed(product, seed));
      onCase(outcomes.length);
    }),
  );
  const total = (pick: (outcome: SeedOutcome) => number): number =>
    outcomes.reduce((sum, outcome) => sum + pick(outcome), 0);
  return {
    cases: outcomes.length,
    questions: total(({ questions }) => questions),
    results: total(({ results }) => results),
    disagreements: outcomes.flatMap(({ disagreements }) => disagreements),
  };
}

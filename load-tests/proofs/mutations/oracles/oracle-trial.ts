import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { builtModule } from '../../../../runtime/project.js';
import type { Edit, MutationOutcome, MutationTrial } from '../mutation.js';
import { PRICING_MUTATIONS } from '../pricing/all-mutations.js';
import type { PricingMutation } from '../pricing/pricing-mutation.js';
import { makeBuiltCopy } from './built-copy.js';
import type { Cases, ComparisonRequest } from './compare-copies.js';

/** A mutant that never ends is broken; the unbroken core needs a part of this. */
const TIMEOUT_MS = 30 * 60_000;

/** The process that compares copies; made anew where a mutant ended it or did not end. */
class Comparer {
  #child: ChildProcess | null = null;

  async compare(request: ComparisonRequest): Promise<MutationOutcome> {
    const child = (this.#child ??= fork(
      builtModule('load-tests/proofs/mutations/oracles/compare-copies'),
    ));
    const stop = new AbortController();
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
    }, TIMEOUT_MS);
    try {
      child.send(request);
      const ended = once(child, 'exit', stop).then((): MutationOutcome => {
        this.#child = null;
        return { kind: 'broken', why: 'the comparison did not end by itself' };
      });
      const answered = once(child, 'message', stop).then(([outcome]) => outcome as MutationOutcome);
      return await Promise.race([answered, ended]);
    } finally {
      clearTimeout(timer);
      stop.abort();
    }
  }

  close(): void {
    this.#child?.disconnect();
    this.#child = null;
  }
}

/** The same mutations as those of the core's own tests, shown to the two oracles alone. */
export type OracleTrial = MutationTrial<PricingMutation> & { close(): void };

export function createOracleTrial(cases: Cases): OracleTrial {
  const comparer = new Comparer();
  const tryEdits = async (edits: readonly Edit[]): Promise<MutationOutcome> => {
    const copy = makeBuiltCopy(edits);
    try {
      return await comparer.compare({ root: copy.root, cases });
    } finally {
      copy.remove();
    }
  };
  const control = async (): Promise<string | null> => {
    const outcome = await tryEdits([]);
    if (outcome.kind === 'missed') return null;
    return outcome.kind === 'caught' ? outcome.finding : outcome.why;
  };
  let known: Promise<string | null> | null = null;
  return {
    mutations: PRICING_MUTATIONS,
    control: () => (known ??= control()),
    run: ({ edits }) => tryEdits(edits),
    close: () => {
      comparer.close();
    },
  };
}

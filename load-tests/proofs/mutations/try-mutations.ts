import pc from 'picocolors';
import { messageOf } from '../../../runtime/failure.js';
import type { MutationOutcome, MutationTrial } from './mutation.js';

export type MutationTally = {
  readonly tried: number;
  readonly missed: number;
  readonly broken: number;
};

const brokenBy = (error: unknown): MutationOutcome => ({ kind: 'broken', why: messageOf(error) });

/** A catch proves nothing when the guards fail without the mutation as well. */
async function outcomeOf<M extends { readonly name: string }>(
  trial: MutationTrial<M>,
  mutation: M,
): Promise<MutationOutcome> {
  const control = await trial.control(mutation);
  if (control !== null) return { kind: 'broken', why: `it fails without the mutation: ${control}` };
  return trial.run(mutation).catch(brokenBy);
}

function verdictOf(outcome: MutationOutcome): string {
  switch (outcome.kind) {
    case 'caught':
      return pc.green(`caught: ${outcome.finding.split('\n', 1)[0] ?? ''}`);
    case 'missed':
      return pc.red('NOT CAUGHT');
    case 'broken':
      return pc.red(`BROKEN MUTANT: ${outcome.why}`);
  }
}

/**
 * Tries the mutations whose name holds the text, one line each, then one line of sums. Only a tally
 * without missed and broken ones is a success; trying none is a mistake.
 */
export async function tryMutations<M extends { readonly name: string }>(
  trial: MutationTrial<M>,
  only: string,
): Promise<MutationTally> {
  const wanted = trial.mutations.filter(({ name }) => name.includes(only));
  if (wanted.length === 0) throw new Error(`no mutation has "${only}" in its name`);
  let missed = 0;
  let broken = 0;
  for (const [index, mutation] of wanted.entries()) {
    const startedAt = performance.now();
    const outcome = await outcomeOf(trial, mutation);
    if (outcome.kind === 'missed') missed += 1;
    if (outcome.kind === 'broken') broken += 1;
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    const place = `[${index + 1}/${wanted.length}]`;
    console.log(`${place} ${mutation.name} → ${verdictOf(outcome)} (${seconds} s)`);
  }
  const caught = wanted.length - missed - broken;
  console.log(
    `${wanted.length} mutations, ${caught} caught, ${missed} not caught, ${broken} broken`,
  );
  return { tried: wanted.length, missed, broken };
}

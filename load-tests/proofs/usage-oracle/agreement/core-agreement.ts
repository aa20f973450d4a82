import { countedEvents, answerUsage } from '../usage.js';
import { caseOf } from './agreement-run.js';
import { customerOf, oracleEventOf, worldOf, type CaseRun } from './case-run.js';
import { coreAnswer } from './core-usage.js';
import { difference } from './describe-disagreement.js';
import { isRight } from './disagreements.js';
import { questionsOf } from './questions.js';
import { LATE_CUSTOMERS, type CaseSpec, type MeterSpec } from './random-case.js';

/** What differs, or the error that the core ended with. */
export type CoreFinding = { readonly kind: 'difference' | 'crash'; readonly text: string };

const NO_PRODUCT: CaseRun['product'] = {
  post: () => Promise.reject(new Error('nothing is sent')),
  get: () => Promise.reject(new Error('nothing is asked')),
  close: () => Promise.resolve(),
};

/** A case when all of its events are stored. */
function storedCase({ early, late }: CaseSpec): CaseRun {
  const eventName = 'call';
  const run: CaseRun = {
    product: NO_PRODUCT,
    eventName,
    customers: [],
    accepted: [],
    meterIds: new Map(),
  };
  for (let index = 0; index < LATE_CUSTOMERS; index += 1) {
    run.customers.push(customerOf(run, index, `customer-${index}`));
  }
  for (const specs of [...early, ...late]) {
    const receipt = run.accepted.length;
    run.accepted.push(...specs.map((spec) => oracleEventOf(run, spec, receipt)));
  }
  return run;
}

function findingsOfMeter(seed: number, run: CaseRun, meter: MeterSpec): readonly CoreFinding[] {
  const world = worldOf(run);
  return questionsOf(run, meter).flatMap((question, index): readonly CoreFinding[] => {
    const where = `usage, seed ${seed}, question ${index} to the ${meter.type} meter`;
    const expected = answerUsage(world, question);
    try {
      const answer = coreAnswer(meter, question, countedEvents(world, question));
      if (isRight(answer, { expected })) return [];
      return [{ kind: 'difference', text: `${where}: oracle ${difference(expected, answer)}` }];
    } catch (error) {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      return [{ kind: 'crash', text: `${where}: ${text}` }];
    }
  });
}

/**
 * Aggregates the events of a random case with the core alone, without stores, and says what the
 * oracle answers otherwise. What finds, reads and adds up events is left to the case against a
 * whole product.
 */
export function findingsOfCore(seed: number): readonly CoreFinding[] {
  const spec = caseOf(seed);
  const run = storedCase(spec);
  return spec.meters.flatMap((meter) => findingsOfMeter(seed, run, meter));
}

import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { UsageAnswer, UsageResult } from '../usage.js';
import {
  beginCase,
  createEarlyCustomers,
  createLateCustomers,
  createMeter,
  sendEvents,
  waitUntilVisible,
  type CaseRun,
} from './case-run.js';
import type { Product } from './product.js';
import { adHocChecks, meterChecks, type Check } from './questions.js';
import type { CaseSpec } from './random-case.js';

type ProductAnswer = {
  readonly value: string;
  readonly results: readonly {
    readonly window_start: string;
    readonly window_end: string;
    readonly group: unknown;
    readonly value: string;
  }[];
};

/** A question that product and oracle answer differently. */
export type Disagreement = {
  readonly stage: 'early' | 'late';
  readonly check: Check;
  /** The product's answer in the oracle's form, or its refusal. */
  readonly answer: UsageAnswer | string;
  /** How long it took until the same question was answered rightly; null when it never was. */
  readonly settledAfterMs: number | null;
};

/** How many questions were asked, and those that were answered differently. */
export type CaseOutcome = {
  readonly questions: number;
  readonly results: number;
  readonly disagreements: readonly Disagreement[];
};

/** Windows in their order; the groups of one window in any, since no rule gives them one. */
function inOrder({ value, results }: UsageAnswer): UsageAnswer {
  // Members of a group may come in any order, too.
  const keyOf = ({ group }: UsageResult): string =>
    JSON.stringify(Object.entries(group ?? {}).sort(([left], [right]) => (left < right ? -1 : 1)));
  const sorted = results.toSorted(
    (left, right) => left.start - right.start || (keyOf(left) < keyOf(right) ? -1 : 1),
  );
  return { value, results: sorted };
}

/** Whether an answer says the same as the oracle's. */
export function isRight(
  answer: UsageAnswer | string,
  { expected }: Pick<Check, 'expected'>,
): boolean {
  return typeof answer !== 'string' && isDeepStrictEqual(inOrder(answer), inOrder(expected));
}

async function ask(product: Product, { path, body }: Check): Promise<UsageAnswer | string> {
  try {
    const { value, results } = await product.post<ProductAnswer>(path, JSON.stringify(body));
    return {
      value,
      results: results.map((result) => ({
        start: Date.parse(result.window_start),
        end: Date.parse(result.window_end),
        group: result.group as Readonly<Record<string, string>> | null,
        value: result.value,
      })),
    };
  } catch (error) {
    return String(error);
  }
}

const SETTLE_TIMEOUT_MS = 15_000;

/** An answer that becomes right by itself came too early: wrong all the same, of another kind. */
async function settling(run: CaseRun, check: Check): Promise<number | null> {
  const startedAt = Date.now();
  while (Date.now() - startedAt < SETTLE_TIMEOUT_MS) {
    await delay(250);
    const answer = await ask(run.product, check);
    if (isRight(answer, check)) return Date.now() - startedAt;
  }
  return null;
}

type Stage = { readonly spec: CaseSpec; readonly run: CaseRun; readonly name: 'early' | 'late' };

async function checkStage({ spec, run, name }: Stage): Promise<CaseOutcome> {
  await waitUntilVisible(run);
  const ofMeters = [...run.meterIds.keys()].flatMap((meter) => meterChecks(run, meter));
  const adHoc = spec.adHoc.flatMap((each) => adHocChecks(run, each));
  const checks = [...ofMeters, ...adHoc];
  const disagreements: Disagreement[] = [];
  for (const check of checks) {
    const answer = await ask(run.product, check);
    if (!isRight(answer, check)) {
      disagreements.push({
        stage: name,
        check,
        answer,
        settledAfterMs: await settling(run, check),
      });
    }
  }
  const results = checks.reduce((sum, { expected }) => sum + expected.results.length, 0);
  return { questions: checks.length, results, disagreements };
}

/**
 * Sends half of the events of a case and asks; creates the other meters and customers, sends the
 * other half, and asks again.
 * @throws Error when the product refuses what it should take, or does not settle in two minutes.
 */
export async function runCase(product: Product, spec: CaseSpec): Promise<CaseOutcome> {
  const run = beginCase(product);
  await createEarlyCustomers(run);
  for (const meter of spec.meters) if (!meter.isLate) await createMeter(run, meter);
  await sendEvents(run, spec.early);
  const early = await checkStage({ spec, run, name: 'early' });
  await createLateCustomers(run);
  for (const meter of spec.meters) if (meter.isLate) await createMeter(run, meter);
  await sendEvents(run, spec.late);
  const late = await checkStage({ spec, run, name: 'late' });
  return {
    questions: early.questions + late.questions,
    results: early.results + late.results,
    disagreements: [...early.disagreements, ...late.disagreements],
  };
}

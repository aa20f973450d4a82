import { setTimeout as delay } from 'node:timers/promises';
import { computeVerdict } from '../checks/compute-verdict.js';
import { keepEvidence } from '../checks/keep-evidence.js';
import { findHalt, settle } from '../checks/settle.js';
import type { Verdict } from '../checks/verdict.js';
import type { FaultEngines, LogKind } from '../engines/fault-engines.js';
import type { PlannedEvent, PlannedRequest } from '../load/plan-load.js';
import { sendLoad } from '../load/send-load.js';
import type { EventBody } from '../load/usage-meter.js';
import { restoreEngines } from '../random/inflict.js';
import { World, type WorldOptions } from '../world/world.js';

/** What a scenario is run on. */
export type Bench = {
  readonly engines: FaultEngines;
  readonly log: LogKind;
  readonly buildRoot: string;
  readonly settleTimeoutMs: number;
  /** The long form: the outage takes a minute, every step crashes. */
  readonly isLong: boolean;
};

/** A named guarantee and the steps that would break it. */
export type Scenario = {
  readonly name: string;
  /** It leaves engines and proxies alone, so that others may run beside it. */
  readonly isCalm: boolean;
  /** It depends on the kind of log: the short form plays it on each log, and the others once. */
  readonly isAboutLog: boolean;
  /** What of it a machine may lack; the reason, or null. */
  readonly skipReason?: (bench: Bench) => string | null;
  readonly run: (bench: Bench) => Promise<Verdict>;
};

type Shape = Partial<Omit<WorldOptions, 'engines' | 'log' | 'buildRoot'>>;

/** Collects what a scenario itself finds wrong, besides the comparison of the stores. */
export type Notes = { readonly expect: (isSo: boolean, problem: string) => void };

/** Long enough for a fenced owner to attempt the rest of its batch. */
const GRACE_MS = 300;

/** Plays a scenario in a world of its own, waits until all is processed and compares everything. */
export async function inWorld(
  bench: Bench,
  shape: Shape,
  play: (world: World, notes: Notes) => Promise<void>,
): Promise<Verdict> {
  const { engines, log, buildRoot, settleTimeoutMs } = bench;
  const defaults = { partitions: 2, flushDelayMs: 50, batchEventsMax: 50_000 };
  const world = await World.make({ engines, log, buildRoot, ...defaults, ...shape });
  const problems: string[] = [];
  try {
    await play(world, {
      expect: (isSo, problem) => {
        if (!isSo) problems.push(problem);
      },
    });
    await restoreEngines(world);
    const unsettled = await settle(world, settleTimeoutMs);
    if (unsettled !== null) problems.push(unsettled);
    await delay(GRACE_MS);
    const halt = findHalt(world);
    if (halt !== null && halt !== unsettled) problems.push(halt);
    const verdict = await computeVerdict(world);
    problems.push(...verdict.problems);
    if (problems.length > 0) problems.push(`see ${await keepEvidence(world, `${log}-scenario`)}`);
    return { ...verdict, problems };
  } finally {
    await restoreEngines(world);
    await world.close();
  }
}

/** On a very busy machine a connection may time out; a program that loops exceeds this number. */
export const CALM_RESTARTS_MAX = 5;

/**
 * Plays a scenario. Where engines are left alone programs start at once: that they keep being
 * started again is a finding, too.
 */
export async function playScenario(scenario: Scenario, bench: Bench): Promise<Verdict> {
  const verdict = await scenario.run(bench);
  const { restarts } = verdict.counts;
  if (!scenario.isCalm || restarts <= CALM_RESTARTS_MAX) return verdict;
  const problem = `restarts: ${restarts} starts failed although every engine was there`;
  return { ...verdict, problems: [...verdict.problems, problem] };
}

/**
 * Lets an aggregator count a few events and end. What comes then has a batch before it, without
 * which several rules have nothing to protect.
 */
export async function countFirstBatch(world: World, bench: Bench, notes: Notes): Promise<void> {
  await send(world, asBulks(eventsOf(20, 900)));
  const aggregator = world.startAggregator();
  const unsettled = await settle(world, bench.settleTimeoutMs);
  notes.expect(unsettled === null, `the first batch: ${unsettled ?? ''}`);
  await aggregator.stop();
}

export type EventShape = Partial<EventBody>;

/** Plain events of the first environment, numbered from `first`; each matches three meters. */
export function eventsOf(
  count: number,
  first: number,
  shape: (index: number) => EventShape = () => ({}),
): readonly PlannedEvent[] {
  return Array.from({ length: count }, (_, offset) => {
    const index = first + offset;
    const body: EventBody = {
      event_name: 'api.request',
      event_id: `id-${index}`,
      external_customer_id: `customer-${index % 7}`,
      source: 'web',
      timestamp: new Date(Date.UTC(2026, 2, 29, 0, 59, 30) + index * 250).toISOString(),
      properties: { method: 'GET', region: 'eu', amount: `${index}.025` },
      ...shape(index),
    };
    return { body, isConflict: false };
  });
}

/** One request for each event, spread evenly over the time. */
export function asSingles(
  events: readonly PlannedEvent[],
  lastsMs: number,
): readonly PlannedRequest[] {
  return events.map((event, index) => ({
    atMs: (index * lastsMs) / events.length,
    environment: 0,
    isBulk: false,
    events: [event],
  }));
}

/** Requests of up to `size` events, all at once. */
export function asBulks(events: readonly PlannedEvent[], size = 200): readonly PlannedRequest[] {
  const requests: PlannedRequest[] = [];
  for (let start = 0; start < events.length; start += size) {
    const some = events.slice(start, start + size);
    requests.push({ atMs: 0, environment: 0, isBulk: true, events: some });
  }
  return requests;
}

export function send(world: World, requests: readonly PlannedRequest[]): Promise<void> {
  return sendLoad(world.ingestTarget, world.ledger, requests);
}

const WAIT_MS = 20;

/** Polls until the condition holds; false when the time is over. */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  timeoutMs: number,
): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (Date.now() < deadline) {
    if (await isSo()) return true;
    await delay(WAIT_MS);
  }
  return false;
}

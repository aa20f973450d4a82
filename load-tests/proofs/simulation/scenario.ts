import { COUNT_EVENTS } from '../../../contract/aggregation.js';
import { meterMatches, type MeterDefinition } from '../../../contract/meter.js';
import { encodeEventRecord, type UsageEvent } from '../../../contract/usage-event.js';
import {
  decodeRecord,
  type Candidate,
  type DecodedRecord,
} from '../../../aggregator/fold/candidate.js';
import type { MachineSettings } from '../../../aggregator/protocol/state.js';
import { machineOf, type Machine } from './mutant-machine.js';
import type { Mutation } from './mutations.js';

/** An event as a plan writes it: its id, with `*` behind it when its plan is "pro". */
export type EventPlan = string;
export type RecordPlan = readonly EventPlan[];
/** A definition of a meter, in order of activation; two of one id are two versions of it. */
export type MeterPlan = { readonly meterId: string; readonly isProOnly: boolean };

/** How often each thing may happen in one world; what is not limited is for the explorer. */
export type Limits = {
  readonly epochs: number;
  readonly timeouts: number;
  readonly lostReplies: number;
  readonly kills: number;
  readonly powerLosses: number;
  readonly restores: number;
  readonly lostParts: number;
  readonly backfillAttempts: number;
};

/** Everything about a world that never changes while it runs; a plan is plain data. */
export type ScenarioPlan = {
  /** Partition → records → events. */
  readonly logs: readonly (readonly RecordPlan[])[];
  readonly meters: readonly MeterPlan[];
  /** How many of the meters are in force from the beginning. */
  readonly metersAtStart: number;
  readonly owners: number;
  readonly eventsMax: number;
  /** Most records that one reading of the log returns. */
  readonly recordsMax: number;
  /** Records that the log holds from the beginning; the others are appended while it runs. */
  readonly recordsAtStart: number;
  /** Partitions whose checkpoint row is made only while the world runs. */
  readonly lateRows: boolean;
  /** Whether owner 1 runs another release, whose rows, and so digests, differ. */
  readonly hasOtherRelease: boolean;
  readonly limits: Limits;
};

/** One partition of the log, decoded once, with the right answers. */
export type PartitionFacts = {
  readonly records: readonly DecodedRecord[];
  /** All events in order; an event is named by its position here. */
  readonly candidates: readonly Candidate[];
  /** Position of the first event of each record, and the end. */
  readonly positions: readonly number[];
  /** Whether the event is the first of its id, so that it counts. */
  readonly isFirst: readonly boolean[];
  /** By definition: whether the event matches. */
  readonly matches: readonly (readonly boolean[])[];
  /** By definition: distinct events that match below each offset. */
  readonly matchesBelow: readonly (readonly number[])[];
};

export type Scenario = {
  readonly plan: ScenarioPlan;
  readonly mutation: Mutation | null;
  readonly partitions: readonly PartitionFacts[];
  /** By partition and owner. */
  readonly settings: readonly (readonly MachineSettings[])[];
  readonly machine: Machine;
};

const ENVIRONMENT = { tenantId: 'tenant', environmentId: 'environment' };
const EVENT_NAME = 'request';

/** 53 bits by the mixing of two multiplicative hashes: nobody attacks a simulation. */
function hashNumber(text: string): number {
  let high = 0x9e3779b9;
  let low = 0x85ebca6b;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    high = Math.imul(high ^ code, 2_654_435_761);
    low = Math.imul(low ^ code, 1_597_334_677);
  }
  high =
    Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  low =
    Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  return (high >>> 0) * 2_097_152 + (low >>> 11);
}

function digestOf(texts: readonly string[]): string {
  return hashNumber(texts.join('')).toString(36);
}

/** The id itself, long enough to be cut, stands for its hash: plans have few, and none collide. */
export function hashText(text: string): string {
  return `${text.length}:${text}`;
}

function eventOf(plan: EventPlan): UsageEvent {
  const isPro = plan.endsWith('*');
  return {
    eventId: isPro ? plan.slice(0, -1) : plan,
    eventName: EVENT_NAME,
    externalCustomerId: 'acme',
    customerId: null,
    source: '',
    timestampMs: 90_000,
    isTimestampGiven: true,
    properties: isPro ? { plan: 'pro' } : {},
  };
}

/** The definition of a planned meter under the generation that its activation drew. */
export function definitionOf(
  meter: MeterPlan,
  version: number,
  generation: number,
): MeterDefinition {
  return {
    environment: ENVIRONMENT,
    meterId: meter.meterId,
    version,
    eventName: EVENT_NAME,
    filters: meter.isProOnly ? [{ key: 'plan', values: ['pro'] }] : [],
    aggregation: COUNT_EVENTS,
    generation,
  };
}

function decodeLog(log: readonly RecordPlan[]): readonly DecodedRecord[] {
  return log.map((record, offset) => {
    const events = record.map(eventOf);
    const value = encodeEventRecord({ environment: ENVIRONMENT, receivedAtMs: 0, events });
    return decodeRecord({ offset, appendedAtMs: 0, value }, hashText);
  });
}

function firstsOf(candidates: readonly Candidate[]): readonly boolean[] {
  const known = new Set<string>();
  return candidates.map(({ idHash }) => {
    const isFirst = !known.has(idHash);
    known.add(idHash);
    return isFirst;
  });
}

/** The right answers by plain counting: the only thing here that says what ought to come out. */
function factsOf(log: readonly RecordPlan[], meters: readonly MeterPlan[]): PartitionFacts {
  const records = decodeLog(log);
  const candidates = records.flatMap((record) => record.candidates);
  const positions = [0];
  for (const record of records) positions.push((positions.at(-1) ?? 0) + record.candidates.length);
  const isFirst = firstsOf(candidates);
  const definitions = meters.map((meter) => definitionOf(meter, 1, 0));
  const matches = definitions.map((definition) =>
    candidates.map(({ event }) => meterMatches(definition, event)),
  );
  const matchesBelow = matches.map((ofDefinition) => {
    const below = candidates.map(
      (_, end) =>
        isFirst.slice(0, end).filter((first, at) => first && ofDefinition[at] === true).length,
    );
    below.push(isFirst.filter((first, at) => first && ofDefinition[at] === true).length);
    return positions.map((position) => below[position] ?? 0);
  });
  return { records, candidates, positions, isFirst, matches, matchesBelow };
}

/** The settings of the machine; another release gives other digests. */
function settingsOf(plan: ScenarioPlan, partition: number, owner: number): MachineSettings {
  const isOther = plan.hasOtherRelease && owner === 1;
  const digest = isOther ? (texts: readonly string[]) => digestOf(['other ', ...texts]) : digestOf;
  return { logId: 'log', partition, eventsMax: plan.eventsMax, digestOf: digest };
}

/** Decodes the logs of a plan and works out what ought to be counted. */
export function createScenario(plan: ScenarioPlan, mutation: Mutation | null = null): Scenario {
  const owners = Array.from({ length: plan.owners }, (_, owner) => owner);
  const partitions = plan.logs.map((log) => factsOf(log, plan.meters));
  const settings = plan.logs.map((_, partition) =>
    owners.map((owner) => settingsOf(plan, partition, owner)),
  );
  return { plan, mutation, partitions, settings, machine: machineOf(mutation) };
}

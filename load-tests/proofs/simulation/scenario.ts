import { COUNT_EVENTS } from '../../../contract/aggregation.js';
import type { MeterDefinition } from '../../../contract/meter.js';
import { encodeEventRecord, type UsageEvent } from '../../../contract/usage-event.js';
import { decodeRecord, type DecodedRecord } from '../../../aggregator/fold/candidate.js';
import type { DigestPart } from '../../../aggregator/fold/encode-rows.js';
import { meterKey, type MeterIndex } from '../../../aggregator/fold/meter-index.js';
import type { MachineSettings } from '../../../aggregator/protocol/state.js';
import { expectedCounts, type ExpectedCounts } from './expected-counts.js';
import { machineOf, type Machine } from './mutant-machine.js';
import type { Mutation } from './mutations.js';
import {
  parseEvent,
  type EventPlan,
  type MeterPlan,
  type RecordPlan,
  type ScenarioPlan,
} from './scenario-plan.js';

/** One partition of the log: its records as the product decodes them, and what must come out. */
export type PartitionFacts = ExpectedCounts & { readonly records: readonly DecodedRecord[] };

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

/** A number of 53 bits, by two multiplicative hashes: quick, and not made against attackers. */
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

function digestOf(parts: readonly DigestPart[]): string {
  return hashNumber(parts.join('')).toString(36);
}

/** The text itself stands for its hash, so that no two collide. */
export function hashText(text: string): string {
  return `${text.length}:${text}`;
}

function eventOf(plan: EventPlan): UsageEvent {
  const { id, isPro } = parseEvent(plan);
  return {
    eventId: id,
    eventName: EVENT_NAME,
    externalCustomerId: 'acme',
    customerId: null,
    source: '',
    timestampMs: 90_000,
    isTimestampGiven: true,
    properties: isPro ? { plan: 'pro' } : {},
  };
}

/** The definition of a planned meter, with the generation that its activation gave it. */
export function definitionOf(
  meter: MeterPlan,
  version: number,
  generation: number,
): MeterDefinition {
  return {
    environment: ENVIRONMENT,
    meterId: meter.meterId,
    version,
    eventName: meter.isElsewhere === true ? 'other' : EVENT_NAME,
    filters: meter.isProOnly ? [{ key: 'plan', values: ['pro'] }] : [],
    aggregation: COUNT_EVENTS,
    generation,
  };
}

/** All meters of a catalog: in a simulated world they have one environment and event name. */
export function definitionsIn(meters: MeterIndex): readonly MeterDefinition[] {
  const group = meters.get(meterKey(ENVIRONMENT, EVENT_NAME)) ?? [];
  return group.map(({ definition }) => definition);
}

function decodeLog(log: readonly RecordPlan[]): readonly DecodedRecord[] {
  return log.map((record, offset) => {
    const events = record.map(eventOf);
    const value = encodeEventRecord({ environment: ENVIRONMENT, receivedAtMs: 0, events });
    return decodeRecord({ offset, appendedAtMs: 0, value }, hashText);
  });
}

function factsOf(log: readonly RecordPlan[], meters: readonly MeterPlan[]): PartitionFacts {
  return { ...expectedCounts(log, meters), records: decodeLog(log) };
}

/** The settings of the machine; another release gives other digests. */
function settingsOf(plan: ScenarioPlan, partition: number, owner: number): MachineSettings {
  const isOther = plan.hasOtherRelease && owner === 1;
  const release = isOther ? ['other '] : [];
  return {
    logId: 'log',
    partition,
    eventsMax: plan.eventsMax,
    insertRowsMax: 1_000_000,
    charactersMax: 1_000_000,
    insertCharactersMax: 1_000_000,
    digestOf: (parts) => digestOf([...release, ...parts]),
  };
}

/** Decodes the logs of a plan and computes what must be counted. */
export function createScenario(plan: ScenarioPlan, mutation: Mutation | null = null): Scenario {
  const owners = Array.from({ length: plan.owners }, (_, owner) => owner);
  const partitions = plan.logs.map((log) => factsOf(log, plan.meters));
  const settings = plan.logs.map((_, partition) =>
    owners.map((owner) => settingsOf(plan, partition, owner)),
  );
  return { plan, mutation, partitions, settings, machine: machineOf(mutation) };
}

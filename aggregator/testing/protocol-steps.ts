import type { UsageEvent } from '../../contract/usage-event.js';
import { nextStep } from '../protocol/machine.js';
import type { Checkpoint, MachineSettings, Outcome, Step } from '../protocol/state.js';
import { FIRST_STEP } from '../protocol/steps.js';

export const settings: MachineSettings = {
  logId: 'log',
  partition: 0,
  eventsMax: 10,
  insertRowsMax: 1_000,
  charactersMax: 1_000_000,
  insertCharactersMax: 1_000_000,
  digestOf: (parts) => parts.join(''),
};

export const checkpoint: Checkpoint = {
  epoch: 1,
  nextOffset: 0,
  intent: null,
  minVersion: 1,
  catalogVersion: 1,
  lastBatch: null,
};

export const EVENT: UsageEvent = {
  eventId: 'id',
  eventName: 'request',
  externalCustomerId: 'acme',
  customerId: null,
  source: '',
  timestampMs: 0,
  isTimestampGiven: true,
  properties: {},
};

/** Stands for its own hash. */
export const plainText = (text: string): string => text;

/** Where the machine stands after these outcomes, from the take on. */
export function after(...outcomes: readonly Outcome[]): Step {
  return outcomes.reduce((step, outcome) => nextStep(settings, step.state, outcome), FIRST_STEP);
}

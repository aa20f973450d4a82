import { vi } from 'vitest';
import type { AppendRequest } from '../event-log.js';
import { Producer } from '../kafka/producer.js';
import { KafkaLogWriter } from '../kafka/writer.js';
import { SimulatedBrokers, type BrokersOptions, type Draws } from './simulated-brokers.js';

/** One value that was given to the writer, and how its append ended. */
type Given = { readonly partition: number; readonly value: string; isAcknowledged: boolean };

export type SimulatedRun = {
  readonly given: readonly Given[];
  /** The values in the log, by partition. */
  readonly logs: readonly (readonly string[])[];
  /** How many records are in the topic that replaced the log; null when none did. */
  readonly recordsElsewhere: number | null;
  readonly seen: SimulatedBrokers['seen'];
  readonly givenUp: number;
  readonly longestMs: number;
  /** Whether every partition takes records after the faults are over. */
  readonly hasRecovered: boolean;
};

export type SimulationOptions = {
  /**
   * The topic is deleted and made anew, as soon as the offsets of all partitions are known; never
   * in a run that does not come so far.
   */
  readonly isRemade?: boolean;
  /** Brokers break the rule on which the producer rests, so that records must be lost. */
  readonly givesIdsTwice?: boolean;
};

const PARTITIONS = 4;
const LEADERS = ['a:1', 'b:1'];
const APPENDS = 300;
const PAUSE_MAX_MS = 16;
/** Long against the pauses, so that groups form, and short against the run. */
const TIMEOUT_MS = 400;
const OPTIONS = { produceTimeoutMs: TIMEOUT_MS, intervalMs: 2, retryMs: 15 };
/** The producer looks for late records every 100 ms. */
const LONGEST_MS = TIMEOUT_MS + 100;
/** All that is delayed or waits has ended after this time. */
const QUIET_MS = 4 * TIMEOUT_MS;
const SEPARATOR = ',';
/** More batches than a partition sends, or has on their way, before leaders are asked for again. */
const REACHED_OFFSETS = 8;

const NO_FAULT = { request: 0, silence: 0, hang: 0, move: 0, error: 0, forget: 0, slowId: 0 };
/** By turns: what retries overcome, what fails appends, slow ids, and brokers that forget. */
const FAULTS: readonly BrokersOptions['faults'][] = [
  { ...NO_FAULT, request: 0.15, move: 0.03, error: 0.05 },
  { ...NO_FAULT, request: 0.3, silence: 0.2, hang: 0.005, move: 0.05, error: 0.1, slowId: 0.1 },
  { ...NO_FAULT, request: 0.2, silence: 0.1, hang: 0.01, move: 0.1, error: 0.2, slowId: 0.6 },
  { request: 0.2, silence: 0.1, hang: 0.003, move: 0.1, error: 0.1, forget: 0.05, slowId: 0.4 },
];

/** Taken before a test sets the clock. */
const realImmediate = setImmediate;

/**
 * Moves the clock of the test from timer to timer, which takes no time.
 * @throws when it would go on for ever.
 */
async function passUntil(isOver: () => boolean): Promise<void> {
  const lastMs = performance.now() + QUIET_MS;
  while (!isOver()) {
    if (vi.getTimerCount() === 0 || performance.now() > lastMs)
      throw new Error('the producer does not end its work');
    vi.advanceTimersToNextTimer();
    await new Promise((resolve) => realImmediate(resolve));
  }
}

async function pass(ms: number): Promise<void> {
  let isOver = false;
  setTimeout(() => (isOver = true), ms);
  await passUntil(() => isOver);
}

async function ended<T>(work: Promise<T>): Promise<T> {
  let isOver = false;
  const settled = work.finally(() => (isOver = true));
  settled.catch(() => undefined);
  await passUntil(() => isOver);
  return settled;
}

/** A producer that notes how its deliveries end. */
function watched(producer: Producer) {
  const notes = { givenUp: 0, longestMs: 0 };
  const deliver = async (records: readonly AppendRequest[], deadlineMs?: number): Promise<void> => {
    const begunMs = performance.now();
    try {
      await producer.deliver(records, deadlineMs);
    } catch (error) {
      notes.givenUp += 1;
      throw error;
    } finally {
      notes.longestMs = Math.max(notes.longestMs, performance.now() - begunMs);
    }
  };
  const turn = (partition: number): Promise<void> => producer.turn(partition);
  const ping = (): Promise<void> => producer.ping();
  const close = (): Promise<void> => producer.close();
  return { notes, producer: { turn, deliver, ping, close } };
}

type Appender = (values: readonly Given[]) => Promise<void>;

function appenderOf(writer: KafkaLogWriter): Appender {
  return async (values) => {
    try {
      await writer.append(values.map(({ partition, value }) => ({ partition, key: '', value })));
      for (const one of values) one.isAcknowledged = true;
    } catch {
      // The log may have the values nevertheless.
    }
  };
}

/** One to three values, often of several partitions. */
function drawValues(draws: Draws, append: number): readonly Given[] {
  return Array.from({ length: draws.between(1, 3) }, (_none, index) => ({
    partition: draws.between(0, PARTITIONS - 1),
    value: `${append}.${index}`,
    isAcknowledged: false,
  }));
}

async function recovers(append: Appender): Promise<boolean> {
  const last = Array.from({ length: PARTITIONS }, (_none, partition) => ({
    ...{ partition, value: `last ${partition}`, isAcknowledged: false },
  }));
  await ended(append(last));
  return last.every(({ isAcknowledged }) => isAcknowledged);
}

function createWriter(producer: KafkaLogWriter['producer'], isMerging: boolean): KafkaLogWriter {
  const mergeValues = (values: readonly string[]): string => values.join(SEPARATOR);
  return new KafkaLogWriter({ logId: 'log', partitionCount: PARTITIONS }, producer, {
    produceTimeoutMs: TIMEOUT_MS,
    // Merged, each batch is one record, so that two batches differ in nothing but their values.
    ...(isMerging ? { mergeValues } : {}),
  });
}

/**
 * Whether each partition was acknowledged at an offset above all that the topic can reach between
 * being made anew and the next question for leaders. Before its first acknowledgement a partition
 * cannot tell the offsets of the new topic from those of the log.
 */
function areOffsetsKnown({ logs }: SimulatedBrokers, given: readonly Given[]): boolean {
  const acknowledged = new Set(given.filter((one) => one.isAcknowledged).map(({ value }) => value));
  const isKnown = (stored: string): boolean =>
    stored.split(SEPARATOR).some((value) => acknowledged.has(value));
  return logs.every(({ values }) => values.slice(REACHED_OFFSETS).some(isKnown));
}

/**
 * Appends values while faults happen; the seed decides everything. The test has set the clock.
 */
export async function simulateProducer(
  seed: number,
  draws: Draws,
  { isRemade = false, givesIdsTwice = false }: SimulationOptions = {},
): Promise<SimulatedRun> {
  const faults = FAULTS[seed % FAULTS.length] ?? NO_FAULT;
  const brokers = new SimulatedBrokers(draws, {
    ...{ faults, leaders: LEADERS, partitionCount: PARTITIONS, requestTimeoutMs: TIMEOUT_MS },
    givesIdsTwice,
  });
  const { producer, notes } = watched(new Producer(brokers, OPTIONS));
  const writer = createWriter(producer, draws.chance(0.7));
  const append = appenderOf(writer);
  const given: Given[] = [];
  const appends: Promise<void>[] = [];
  for (let index = 0; index < APPENDS; index += 1) {
    if (isRemade && brokers.former === null && areOffsetsKnown(brokers, given)) {
      brokers.remakeTopic();
    }
    const values = drawValues(draws, index);
    given.push(...values);
    appends.push(append(values));
    await pass(draws.between(0, PAUSE_MAX_MS));
  }
  brokers.heal();
  await ended(Promise.all(appends));
  await pass(QUIET_MS - 1);
  const hasRecovered = await recovers(append);
  await ended(writer.close());
  return { given, ...outcomeOf(brokers), seen: brokers.seen, ...notes, hasRecovered };
}

function outcomeOf({ logs, former }: SimulatedBrokers) {
  const counted = logs.reduce((count, { values }) => count + values.length, 0);
  return {
    logs: (former ?? logs).map(({ values }) => values.flatMap((value) => value.split(SEPARATOR))),
    recordsElsewhere: former === null ? null : counted,
  };
}

/** What must not be, as sentences; empty when all is well. */
export function wrongIn(run: SimulatedRun): readonly string[] {
  const wrong = run.logs.flatMap((log, partition) => [
    ...wrongInOrder(log, acknowledgedIn(run, partition)),
    // A broker that forgot its producer cannot know what is sent again.
    ...(run.seen.forgotten === 0 ? repeated(log) : []),
  ]);
  if (run.longestMs > LONGEST_MS) wrong.push(`a delivery took ${run.longestMs} ms`);
  if (run.recordsElsewhere !== null) {
    if (run.hasRecovered) wrong.push('takes records that go to another topic than the log');
  } else if (!run.hasRecovered) wrong.push('takes no records after the faults');
  return wrong;
}

function acknowledgedIn({ given }: SimulatedRun, partition: number): readonly string[] {
  return given
    .filter((one) => one.partition === partition && one.isAcknowledged)
    .map(({ value }) => value);
}

function wrongInOrder(log: readonly string[], acknowledged: readonly string[]): readonly string[] {
  let before = -1;
  return acknowledged.flatMap((value) => {
    const at = log.indexOf(value);
    if (at === -1) return [`${value} is acknowledged and lost`];
    const isLate = at < before;
    before = at;
    return isLate ? [`${value} is before an earlier one`] : [];
  });
}

function repeated(log: readonly string[]): readonly string[] {
  const again = log.filter((value, at) => log.indexOf(value) !== at);
  return again.map((value) => `${value} is in the log again`);
}

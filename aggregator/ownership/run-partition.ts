import { createHash } from 'node:crypto';
import { serverCodeOf } from '../../clickhouse/clickhouse-failure.js';
import { setTimeout as delay } from 'node:timers/promises';
import { DependencyError, messageOf } from '../../runtime/failure.js';
import type { Log } from '../../runtime/log.js';
import type { Metrics } from '../../runtime/metrics.js';
import { ENCODED_CHARACTERS_MAX } from '../../contract/usage-minute.js';
import { nextStep } from '../protocol/machine.js';
import type {
  Batch,
  Command,
  HaltReason,
  Performed,
  State,
  Step,
  MachineSettings,
} from '../protocol/state.js';
import { FIRST_STEP } from '../protocol/steps.js';
import { perform, type PartitionDependencies } from './perform.js';
import type { Performance } from '../flush/flush.js';
import { lessCertain } from '../flush/write-together.js';

const BACKOFF_FIRST_MS = 100;
const BACKOFF_MAX_MS = 5_000;

/**
 * Called before each command, so that a test can make it fail: `before` it has any effect, or
 * `after`, so that only its answer is lost.
 */
export type InjectFailure = (command: Command, partition: number) => 'before' | 'after' | null;

export type PartitionRun = PartitionDependencies & {
  readonly logger: Log;
  readonly metrics: Metrics;
  /** Characters of the usage rows of one batch, among the partitions that the process runs now. */
  readonly charactersMax: () => number;
  readonly injectFailure?: InjectFailure;
  /** Called when records could be read or a batch is finished: what halted it before is gone. */
  readonly onGoingOn?: () => void;
  /** How long to wait after this many failures in a row; tests do not wait. */
  readonly retryDelayMs?: (failures: number) => number;
};

/** Why a run ended. A halted partition needs an operator; a lost one may be taken again. */
export type RunEnd = 'released' | 'lost' | { readonly halted: HaltReason };

/** Grows exponentially, with jitter, so that owners do not all retry at the same moment. */
function backoffMs(failures: number): number {
  const ceiling = Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** Math.min(failures, 10));
  return ceiling * (0.5 + Math.random() / 2);
}

function countBatch(metrics: Metrics, batch: Batch): void {
  const { idHashes, duplicates, conflicts, deadLetters, countedEvents, unreadable } = batch.summary;
  metrics.eventsProcessed.inc({ outcome: 'counted' }, countedEvents);
  metrics.eventsProcessed.inc({ outcome: 'unmatched' }, idHashes.length - countedEvents);
  metrics.eventsProcessed.inc({ outcome: 'duplicate' }, duplicates);
  metrics.eventsProcessed.inc({ outcome: 'conflict' }, conflicts);
  for (const [type, count] of unreadable) metrics.unreadableValues.inc({ type }, count);
  for (const reason of deadLetters) metrics.recordsDeadLettered.inc({ reason });
}

/** Counts a finished batch in the metrics and commits its end to the log. */
async function announceFinish(run: PartitionRun, batch: Batch): Promise<void> {
  countBatch(run.metrics, batch);
  try {
    await run.log.commit(run.partition, batch.range.end);
  } catch (error) {
    // The checkpoint alone decides where to go on. The log's own offset serves lag tools and
    // retention, and the next batch commits a later one.
    run.logger.warn(
      { partition: run.partition, error: messageOf(error) },
      'the offset could not be committed to the log; the next batch commits a later one',
    );
  }
}

/** Phases in which the owner may stop: it has begun nothing that a successor must complete. */
const LEAVABLE: ReadonlySet<State['phase']> = new Set([
  ...(['taking', 'gating', 'draining', 'inspecting', 'warming', 'fetching'] as const),
  ...(['refetching', 'looking_up', 'checking_presence', 'loading_catalog'] as const),
]);

/**
 * Whether another owner has taken the partition. A process that was paused finds stores that its
 * successor has changed; only if the epoch is still its own do the stores contradict each other.
 * @throws DependencyError.
 */
async function wasFenced(
  { checkpoints, partition }: PartitionRun,
  epoch: number,
): Promise<boolean> {
  return (await checkpoints.read(partition)).epoch !== epoch;
}

async function waitBeforeRetry(run: PartitionRun, failures: number): Promise<void> {
  try {
    const delayMs = (run.retryDelayMs ?? backoffMs)(failures);
    await delay(delayMs, undefined, { signal: run.signal });
  } catch {
    // The signal ended the wait, and the loop checks it.
  }
}

const INJECTED: Performance = {
  outcome: { kind: 'unknown' },
  cause: new Error('failure injected by a test'),
};

/**
 * Inserts one table after the other, each of which may be made to fail; when one does, the others
 * are written all the same.
 */
async function insertOneByOne(
  run: PartitionRun,
  command: Extract<Performed, { kind: 'insert' }>,
): Promise<Performance> {
  let worst: Performance = { outcome: { kind: 'inserted' }, cause: null };
  for (const table of command.tables) {
    worst = lessCertain(await performOrFail(run, { ...command, tables: [table] }), worst);
  }
  return worst;
}

async function performOrFail(run: PartitionRun, command: Performed): Promise<Performance> {
  const isOfMany = command.kind === 'insert' && command.tables.length > 1;
  if (run.injectFailure !== undefined && isOfMany) return insertOneByOne(run, command);
  const failure = run.injectFailure?.(command, run.partition) ?? null;
  if (failure === 'before') return INJECTED;
  const performance = await perform(run, command);
  return failure === 'after' ? INJECTED : performance;
}

/** Commands that only read. One that fails may be tried again as if it had not been tried. */
const READS: ReadonlySet<Command['kind']> = new Set([
  ...(['inspect', 'warm_filter', 'fetch', 'refetch', 'look_up', 'check_presence'] as const),
  ...(['load_catalog', 'reread'] as const),
]);
/** How often a read is tried; then the partition is taken again, at the cost of gate and drain. */
const READ_TRIES_MAX = 4;

/** Performs a command; a failed read is tried again, while the others of a flush go on. */
async function performPatiently(run: PartitionRun, command: Performed): Promise<Performance> {
  for (let tries = 1; ; tries += 1) {
    const performance = await performOrFail(run, command);
    if (performance.outcome.kind !== 'unknown') return performance;
    run.member.leave();
    const isOutage = performance.cause instanceof DependencyError && performance.cause.isRetryable;
    const mayTry = READS.has(command.kind) && isOutage && !run.signal.aborted;
    if (!mayTry || tries === READ_TRIES_MAX) return performance;
    const facts = { partition: run.partition, error: performance.cause.message };
    run.logger.warn(facts, `could not ${command.kind.replaceAll('_', ' ')}; tried again`);
    await waitBeforeRetry(run, tries - 1);
  }
}

/** Where a run stands. */
type Place = { progress: Progress };

type Progress = {
  readonly step: Step;
  readonly failures: number;
  /** When the intent of the current batch was written, by the monotonic clock. */
  readonly intendedAtMs: number;
  /** The epoch of the last take. */
  readonly epoch: number;
  readonly refusals: Refusals;
};

/** How often in a row ClickHouse refused inserts with one code. */
type Refusals = { readonly code: string | null; readonly count: number; readonly most: number };
const NO_REFUSALS: Refusals = { code: null, count: 0, most: Number.POSITIVE_INFINITY };
/** With the pauses between them some 20 s: longer than a server takes to be reconfigured. */
const LASTING_REFUSALS_MAX = 8;
/** Some two minutes, for what may pass: too many parts, which are merged, or no memory. */
const PASSING_REFUSALS_MAX = 30;
/** So often an insert of several partitions is sent again, then each of them goes its own way. */
const REFUSALS_TOGETHER = 2;

/** Counts an insert that the server refused, such as one with a setting that it does not know. */
function countRefusal(known: Refusals, { outcome, cause }: Performance): Refusals {
  const isRefusal = cause instanceof DependencyError;
  const isCounted = isRefusal && (!cause.isRetryable || outcome.kind === 'not_written');
  const code = isCounted ? serverCodeOf(cause.cause) : null;
  if (code === null || !isRefusal) return NO_REFUSALS;
  const most = cause.isRetryable ? PASSING_REFUSALS_MAX : LASTING_REFUSALS_MAX;
  return { code, count: code === known.code ? known.count + 1 : 1, most };
}

function startsBatch(command: Command): boolean {
  return command.kind === 'intend' || command.kind === 'refetch';
}

/** After a step whose outcome is unknown: waits, and goes on with what the machine says. */
async function goOnAfterUnknown(
  run: PartitionRun,
  settings: MachineSettings,
  { at, performed }: { readonly at: Place; readonly performed: Performance },
): Promise<void> {
  const { cause } = performed;
  const { progress } = at;
  const { state, command } = progress.step;
  // Without a cause nothing failed: the partition is being given up.
  if (cause !== null) {
    const facts = { partition: run.partition, phase: state.phase, error: messageOf(cause) };
    run.logger.warn(
      facts,
      'a step failed or its answer was lost; the partition is taken again to find out',
    );
    run.metrics.partitionTakes.inc({ reason: 'unknown_outcome' });
  }
  await waitBeforeRetry(run, progress.failures);
  const step = nextStep(settings, state, { kind: 'unknown' });
  const known = progress.refusals;
  const refusals = command.kind === 'insert' ? countRefusal(known, performed) : known;
  at.progress = { ...progress, step, failures: progress.failures + 1, refusals };
}

/**
 * After an insert that the server refused before it wrote: waits, and sends it again. When the
 * partition is given up meanwhile, its next owner does.
 */
async function sendAgain(
  run: PartitionRun,
  settings: MachineSettings,
  { at, performed }: { readonly at: Place; readonly performed: Performance },
): Promise<void> {
  const { step, failures, refusals: known } = at.progress;
  const refusals = countRefusal(known, performed);
  const facts = { partition: run.partition, error: messageOf(performed.cause) };
  run.logger.warn(facts, 'ClickHouse refused an insert before it wrote; sent again');
  // Else one batch that the server cannot take would hold up those of the other partitions.
  if (refusals.count > REFUSALS_TOGETHER) run.member.leave();
  await waitBeforeRetry(run, failures);
  const outcome = run.signal.aborted ? ({ kind: 'unknown' } as const) : performed.outcome;
  const next = nextStep(settings, step.state, outcome);
  at.progress = { ...at.progress, step: next, failures: failures + 1, refusals };
}

/** What is over as soon as the partition counts again. */
function noteWork(run: PartitionRun, progress: Progress, command: Performed): Progress {
  if (command.kind !== 'remember' && command.kind !== 'fetch') return progress;
  run.onGoingOn?.();
  return { ...progress, failures: 0, refusals: NO_REFUSALS };
}

async function performStep(run: PartitionRun, settings: MachineSettings, at: Place): Promise<void> {
  const { step } = at.progress;
  const { state, command } = step;
  if (command.kind === 'halt' || command.kind === 'step_down') return;
  const performed = await performPatiently(run, command);
  const { outcome, cause } = performed;
  if (outcome.kind === 'unknown') return goOnAfterUnknown(run, settings, { at, performed });
  if (outcome.kind === 'not_written') return sendAgain(run, settings, { at, performed });
  if (command.kind === 'remember') {
    run.metrics.batchSeconds.observe((performance.now() - at.progress.intendedAtMs) / 1000);
    await announceFinish(run, command.batch);
  }
  if (outcome.kind === 'not_in_log') {
    const facts = { partition: run.partition, error: messageOf(cause) };
    run.logger.error(facts, 'the log does not have the next offset');
  } else {
    at.progress = noteWork(run, at.progress, command);
  }
  at.progress = {
    ...at.progress,
    step: nextStep(settings, state, outcome),
    intendedAtMs: startsBatch(command) ? performance.now() : at.progress.intendedAtMs,
  };
}

/** How the run ends, if it ends here. */
async function endOf(run: PartitionRun, { progress }: Place): Promise<RunEnd | null> {
  const { step, epoch, refusals } = progress;
  const { state, command } = step;
  if (run.signal.aborted && LEAVABLE.has(state.phase)) return 'released';
  if (command.kind === 'step_down') return 'lost';
  if (refusals.count >= refusals.most) return { halted: 'insert_refused' };
  if (command.kind !== 'halt') return null;
  for (let failures = 0; !run.signal.aborted; failures += 1) {
    try {
      return (await wasFenced(run, epoch)) ? 'lost' : { halted: command.reason };
    } catch (error) {
      if (!(error instanceof DependencyError)) throw error;
      await waitBeforeRetry(run, failures);
    }
  }
  return 'released';
}

/**
 * Runs one partition until the signal aborts, a newer owner fences it or it halts: performs the
 * machine's commands and passes their outcomes back to it.
 * @throws errors that are not outages. Such a bug ends the process; recovery completes its batch.
 */
export async function runPartition(run: PartitionRun): Promise<RunEnd> {
  try {
    return await runUntilEnd(run);
  } finally {
    // The other partitions of its flush must not wait for it.
    await run.member.stop();
  }
}

/** The digest of an intent. */
const digestOf: MachineSettings['digestOf'] = (parts) => {
  const sum = createHash('sha256');
  for (const part of parts) sum.update(part);
  return sum.digest('hex');
};

/** The settings of the next step: a partition's share of the process changes with the others. */
function settingsOf(run: PartitionRun): MachineSettings {
  return {
    logId: run.log.identity.logId,
    partition: run.partition,
    eventsMax: run.eventsMax,
    insertRowsMax: run.writer.insertRowsMax,
    digestOf,
    charactersMax: run.charactersMax(),
    insertCharactersMax: ENCODED_CHARACTERS_MAX,
  };
}

/** Notes the epoch that the state knows. */
function noteEpoch(run: PartitionRun, at: Place): void {
  const { state } = at.progress.step;
  if (!('checkpoint' in state)) return;
  const { epoch } = state.checkpoint;
  at.progress = { ...at.progress, epoch };
  run.metrics.partitionEpoch.set({ partition: String(run.partition) }, epoch);
}

/**
 * Runs step after step, for as long as this process owns the partition. No variable here may hold a
 * batch: JavaScript may keep the memory of a variable until its function ends, and this one hardly
 * ever does. A whole old batch of each partition stayed in memory that way
 * (docs/internals/measurements.md).
 */
async function runUntilEnd(run: PartitionRun): Promise<RunEnd> {
  const at: Place = {
    progress: { step: FIRST_STEP, failures: 0, intendedAtMs: 0, epoch: 0, refusals: NO_REFUSALS },
  };
  for (;;) {
    const end = await endOf(run, at);
    if (end !== null) return end;
    noteEpoch(run, at);
    await performStep(run, settingsOf(run), at);
  }
}

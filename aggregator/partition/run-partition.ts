import { setTimeout as delay } from 'node:timers/promises';
import { DependencyError, messageOf } from '../../runtime/failure.js';
import type { Log } from '../../runtime/log.js';
import type { Metrics } from '../../runtime/metrics.js';
import { FIRST_STEP, nextStep } from '../protocol/machine.js';
import type { Batch, Command, HaltReason, State, Step, Surroundings } from '../protocol/state.js';
import {
  digestOf,
  perform,
  type PartitionDependencies,
  type Performance,
  type Performed,
} from './perform.js';

const BACKOFF_FIRST_MS = 100;
const BACKOFF_MAX_MS = 5_000;

/**
 * Asked before each command; tests make a step fail here: `before` it has any effect, or `after`,
 * so that only its answer is lost.
 */
export type Sabotage = (command: Command, partition: number) => 'before' | 'after' | null;

export type PartitionRun = PartitionDependencies & {
  readonly logger: Log;
  readonly metrics: Metrics;
  readonly sabotage?: Sabotage;
  /** How long to wait after so many failures in a row; tests do not wait. */
  readonly retryDelayMs?: (failures: number) => number;
};

/**
 * Why a run ended; a partition that halted needs an operator, one that was lost may be taken again.
 */
export type RunEnd = 'released' | 'lost' | { readonly halted: HaltReason };

/**
 * Exponential with full jitter, so that owners that lost the same server do not return together.
 */
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

/** A batch is finished, as far as anything outside this partition is concerned. */
async function announceFinish(run: PartitionRun, batch: Batch): Promise<void> {
  countBatch(run.metrics, batch);
  try {
    await run.log.commit(run.partition, batch.range.end);
  } catch (error) {
    // The checkpoint decides; the log's own offset serves lag tools and retention, and the next
    // batch tells it again.
    run.logger.warn({ partition: run.partition, error: messageOf(error) }, 'offset not committed');
  }
}

/** Phases before this owner has promised anything: whoever comes next misses nothing. */
const LEAVABLE: ReadonlySet<State['phase']> = new Set([
  ...(['taking', 'gating', 'draining', 'inspecting', 'warming', 'fetching'] as const),
  ...(['refetching', 'looking_up', 'checking_presence'] as const),
]);

/**
 * A process that was paused sees stores that its successor has moved on, and takes that for a
 * contradiction. What was seen is true of the stores only if the epoch is still ours afterwards.
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
    // Given up while waiting: the loop sees the signal.
  }
}

const SABOTAGED: Performance = { outcome: { kind: 'unknown' }, cause: new Error('sabotaged') };

async function performOrFail(run: PartitionRun, command: Performed): Promise<Performance> {
  const failure = run.sabotage?.(command, run.partition) ?? null;
  if (failure === 'before') return SABOTAGED;
  const performance = await perform(run, command);
  return failure === 'after' ? SABOTAGED : performance;
}

type Progress = {
  readonly step: Step;
  readonly failures: number;
  /** When the batch under way was promised, by a steady clock. */
  readonly intendedAtMs: number;
  /** Under which the partition was last taken. */
  readonly epoch: number;
};

function isPromising(command: Command): boolean {
  return command.kind === 'intend' || command.kind === 'refetch';
}

async function performStep(
  run: PartitionRun,
  surroundings: Surroundings,
  progress: Progress,
): Promise<Progress> {
  const { step, failures } = progress;
  const { state, command } = step;
  if (command.kind === 'halt' || command.kind === 'step_down') return progress;
  const { outcome, cause } = await performOrFail(run, command);
  if (outcome.kind === 'unknown') {
    const facts = { partition: run.partition, phase: state.phase, error: messageOf(cause) };
    // Without a cause nothing failed: the step was left since the partition is given up.
    if (cause !== null) run.logger.warn(facts, 'outcome of a step is unknown');
    run.metrics.partitionTakes.inc({ reason: 'unknown_outcome' });
    await waitBeforeRetry(run, failures);
    const retry = nextStep(surroundings, state, outcome);
    return { ...progress, step: retry, failures: failures + 1 };
  }
  if (command.kind === 'remember') {
    run.metrics.batchSeconds.observe((performance.now() - progress.intendedAtMs) / 1000);
    await announceFinish(run, command.batch);
  }
  const isWorking = command.kind === 'remember' || command.kind === 'fetch';
  return {
    ...progress,
    step: nextStep(surroundings, state, outcome),
    failures: isWorking ? 0 : failures,
    intendedAtMs: isPromising(command) ? performance.now() : progress.intendedAtMs,
  };
}

/** How the run ends, if it ends here. */
async function endOf(run: PartitionRun, { step, epoch }: Progress): Promise<RunEnd | null> {
  const { state, command } = step;
  if (run.signal.aborted && LEAVABLE.has(state.phase)) return 'released';
  if (command.kind === 'step_down') return 'lost';
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
 * Owns one partition until the signal or until a newer owner fences it: lets the machine decide,
 * performs, and tells the machine what happened.
 * @throws whatever is not an outage: a bug ends the process with its batch pending, which is safe.
 */
export async function runPartition(run: PartitionRun): Promise<RunEnd> {
  const { identity } = run.log;
  const surroundings: Surroundings = {
    logId: identity.logId,
    partition: run.partition,
    eventsMax: run.limits.eventsMax,
    digestOf,
  };
  const label = { partition: String(run.partition) };
  let progress: Progress = { step: FIRST_STEP, failures: 0, intendedAtMs: 0, epoch: 0 };
  for (;;) {
    const end = await endOf(run, progress);
    if (end !== null) return end;
    const { state } = progress.step;
    if ('checkpoint' in state) {
      progress = { ...progress, epoch: state.checkpoint.epoch };
      run.metrics.partitionEpoch.set(label, progress.epoch);
    }
    progress = await performStep(run, surroundings, progress);
  }
}

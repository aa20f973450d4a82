import type { Intent } from '../../../aggregator/protocol/state.js';
import type { Operation } from './operations.js';
import type { Scenario } from '../simulation/scenario.js';
import {
  activateMeterVersion,
  claimBackfill,
  completeBackfill,
  ensureCheckpoint,
  finishBatch,
  hasBackfill,
  intendBatch,
  isClaimable,
  postponeBackfill,
  retireUnread,
  revertMeter,
  takeCheckpoint,
} from '../simulation/simulated-postgres.js';
import { withItem, type Attempt, type MetersWorld, type World } from '../simulation/world.js';

/** A statement with its arguments, which are computed from the model. */
export type Statement =
  | { readonly kind: 'ensure'; readonly partitions: number }
  | { readonly kind: 'take'; readonly partition: number; readonly gate: number }
  | {
      readonly kind: 'intend';
      readonly partition: number;
      readonly epoch: number;
      readonly start: number;
      readonly intent: Intent;
      readonly isReplacement: boolean;
    }
  | {
      readonly kind: 'finish';
      readonly partition: number;
      readonly epoch: number;
      readonly start: number;
      readonly end: number;
      readonly rows: number;
      readonly appendedAtMs: number;
    }
  | { readonly kind: 'activate'; readonly version: number }
  | { readonly kind: 'revert'; readonly version: number }
  | { readonly kind: 'retire_unread' }
  | { readonly kind: 'claim'; readonly version: number }
  | { readonly kind: 'progress' | 'complete' | 'postpone'; readonly attempt: Attempt };

/** What a statement does in the model: whether it took effect, and the world afterwards. */
export type Modelled = {
  readonly statement: Statement;
  readonly hasEffect: boolean;
  readonly world: World;
};

type On<Kind extends Operation['kind']> = Extract<Operation, { readonly kind: Kind }>;

function withRow(world: World, index: number, row: World['partitions'][number]['row']): World {
  const partition = world.partitions[index];
  if (partition === undefined) throw new RangeError('no such partition');
  return { ...world, partitions: withItem(world.partitions, index, { ...partition, row }) };
}

function ensure(scenario: Scenario, world: World, { partitions }: On<'ensure'>): Modelled {
  let next = world;
  for (let index = 0; index < partitions; index += 1) {
    if (world.partitions[index]?.row !== null) continue;
    next = withRow(next, index, ensureCheckpoint(world.meters, scenario.mutation));
  }
  return { statement: { kind: 'ensure', partitions }, hasEffect: next !== world, world: next };
}

type Row = NonNullable<World['partitions'][number]['row']>;

/** The row afterwards; `next` is null when a guard refuses. */
type OnRow = { readonly statement: Statement; readonly next: Row | null };

function intend(scenario: Scenario, world: World, [row, drawn]: [Row, On<'intend'>]): OnRow | null {
  const { partition, isReplacement, digest, length, endOff } = drawn;
  const start = row.nextOffset + drawn.startOff;
  const end = isReplacement ? (row.intent?.end ?? start + length) + endOff : start + length;
  const pinned = isReplacement ? row.catalogVersion : world.meters.version;
  const catalogVersion = Math.max(1, pinned + drawn.catalogOff);
  // An intent of no records is refused by the table itself; the machine never makes one.
  if (end <= row.nextOffset) return null;
  const intent = { end, catalogVersion, foldVersion: 1, digest };
  const epoch = row.epoch + drawn.epochOff;
  const statement = { kind: 'intend', partition, epoch, start, intent, isReplacement } as const;
  return { statement, next: intendBatch(row, statement, scenario.mutation) };
}

function finish({ mutation }: Scenario, row: Row, drawn: On<'finish'>): OnRow {
  const { partition, rows } = drawn;
  const start = row.nextOffset + drawn.startOff;
  const end = (row.intent?.end ?? start + 1) + drawn.endOff;
  const epoch = row.epoch + drawn.epochOff;
  // Any time that tells the batches apart.
  const appendedAtMs = 1_700_000_000_123 + end;
  const command = { kind: 'finish', epoch, start, end, rows, appendedAtMs } as const;
  return { statement: { ...command, partition }, next: finishBatch(row, command, mutation) };
}

function onRow(
  scenario: Scenario,
  world: World,
  operation: On<'take'> | On<'intend'> | On<'finish'>,
): Modelled | null {
  const { partition } = operation;
  const row = world.partitions[partition]?.row ?? null;
  if (row === null) return null;
  const outcome =
    operation.kind === 'take'
      ? { statement: operation, next: takeCheckpoint(row, operation.gate) }
      : operation.kind === 'intend'
        ? intend(scenario, world, [row, operation])
        : finish(scenario, row, operation);
  if (outcome === null) return null;
  const { statement, next } = outcome;
  return { statement, hasEffect: next !== null, world: withRow(world, partition, next ?? row) };
}

function onAttempt(
  { mutation }: Scenario,
  world: World,
  operation: On<'progress'> | On<'complete'> | On<'postpone'>,
): Modelled | null {
  const { meters } = world;
  const attempt = meters.attempts.at(-1 - operation.attempt);
  const version = attempt === undefined ? undefined : meters.versions[attempt.version];
  if (attempt === undefined || version === undefined) return null;
  const hasEffect = hasBackfill(version, attempt);
  const after = (next: MetersWorld): Modelled => ({
    statement: { kind: operation.kind, attempt },
    hasEffect,
    world: { ...world, meters: next },
  });
  if (operation.kind === 'complete') return after(completeBackfill(meters, attempt, mutation));
  return after(operation.kind === 'postpone' ? postponeBackfill(meters, attempt) : meters);
}

function onMeters(
  scenario: Scenario,
  world: World,
  operation: On<'activate'> | On<'revert'> | On<'retire_unread'> | On<'claim'>,
): Modelled | null {
  const { meters } = world;
  switch (operation.kind) {
    case 'activate': {
      const version = meters.versions.length;
      if (version >= scenario.plan.meters.length) return null;
      const next = activateMeterVersion(scenario, world);
      return { statement: { kind: 'activate', version }, hasEffect: true, world: next };
    }
    case 'revert': {
      if (meters.versions.length === 0) return null;
      const version = operation.version % meters.versions.length;
      const next = revertMeter(meters, version);
      const reverted = next === null ? world : { ...world, meters: next };
      return { statement: { kind: 'revert', version }, hasEffect: next !== null, world: reverted };
    }
    case 'retire_unread': {
      const next = retireUnread(meters);
      return {
        statement: operation,
        hasEffect: next !== meters,
        world: { ...world, meters: next },
      };
    }
    case 'claim': {
      if (meters.versions.length === 0) return null;
      const version = operation.version % meters.versions.length;
      const hasEffect = isClaimable(scenario, world, version);
      const next = hasEffect ? claimBackfill(meters, version, scenario.mutation) : meters;
      return {
        statement: { kind: 'claim', version },
        hasEffect,
        world: { ...world, meters: next },
      };
    }
  }
}

/** What an operation does in the model; null when it is not possible there. */
export function modelled(scenario: Scenario, world: World, operation: Operation): Modelled | null {
  switch (operation.kind) {
    case 'ensure':
      return ensure(scenario, world, operation);
    case 'take':
    case 'intend':
    case 'finish':
      return onRow(scenario, world, operation);
    case 'progress':
    case 'complete':
    case 'postpone':
      return onAttempt(scenario, world, operation);
    default:
      return onMeters(scenario, world, operation);
  }
}

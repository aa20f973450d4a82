import { indexMeters } from '../../../aggregator/fold/meter-index.js';
import type { Checkpoint, Command } from '../../../aggregator/protocol/state.js';
import type { Mutation } from './mutations.js';
import { definitionOf, hashText, type Scenario } from './scenario.js';
import {
  newRow,
  withItem,
  type Attempt,
  type MetersWorld,
  type MeterVersion,
  type World,
} from './world.js';

/**
 * The SQL of the product as functions, one for each statement, with the name of its file. A
 * statement is atomic. That they do the same is tested (simulation-conformance/).
 */
type Of<Kind extends Command['kind']> = Extract<Command, { readonly kind: Kind }>;

/** take-checkpoint.sql */
export function takeCheckpoint(row: Checkpoint, gate: number): Checkpoint {
  return { ...row, epoch: Math.max(row.epoch, gate) + 1 };
}

/** The CASE of intend-batch.sql: what the row must be for a replacement and for a first intent. */
function mayIntend(
  row: Checkpoint,
  { intent, isReplacement }: Of<'intend'>,
  mutation: Mutation | null,
): boolean {
  const { end, catalogVersion } = intent;
  if (isReplacement) return row.intent?.end === end && row.catalogVersion === catalogVersion;
  const isFree = row.intent === null || mutation === 'no_intent_guard';
  return isFree && row.minVersion <= catalogVersion && row.catalogVersion <= catalogVersion;
}

/** intend-batch.sql; null when a guard refuses. */
export function intendBatch(
  row: Checkpoint,
  command: Of<'intend'>,
  mutation: Mutation | null,
): Checkpoint | null {
  const { epoch, start, intent } = command;
  if (row.epoch !== epoch && mutation !== 'no_epoch_guard') return null;
  if (row.nextOffset !== start || !mayIntend(row, command, mutation)) return null;
  return { ...row, intent, catalogVersion: intent.catalogVersion };
}

/** finish-batch.sql; null when a guard refuses. */
export function finishBatch(
  row: Checkpoint,
  command: Of<'finish'>,
  mutation: Mutation | null,
): Checkpoint | null {
  const { epoch, start, end, rows, appendedAtMs } = command;
  if (row.epoch !== epoch && mutation !== 'no_epoch_guard') return null;
  if (mutation !== 'no_finish_guard') {
    if (row.nextOffset !== start || row.intent?.end !== end) return null;
  }
  return {
    ...row,
    nextOffset: end,
    intent: null,
    lastBatch: { start, rows, erased: 0, appendedAtMs },
  };
}

/** ensure-checkpoints.sql for one partition: a row begins with the catalog at its creation. */
export function ensureCheckpoint(meters: MetersWorld, mutation: Mutation | null): Checkpoint {
  return newRow(mutation === 'row_with_old_catalog' ? 1 : meters.version);
}

function startOffsetsOf(world: World, mutation: Mutation | null): readonly number[] {
  return world.partitions.map(({ row }) => {
    if (row === null) return 0;
    return mutation === 'start_offsets_from_next_offset'
      ? row.nextOffset
      : (row.intent?.end ?? row.nextOffset);
  });
}

function ofMeter(version: MeterVersion, meterId: string): boolean {
  return version.definition.meterId === meterId;
}

/** next_catalog_version, and the definitions that are active in it. */
function withCatalog(meters: MetersWorld): MetersWorld {
  const version = meters.version + 1;
  const inForce = meters.versions.filter(({ retiredIn }) => retiredIn === null);
  const definitions = inForce.map(({ definition }) => definition);
  const catalog = { version, meters: indexMeters(definitions, hashText) };
  return { ...meters, version, catalogs: [...meters.catalogs, catalog] };
}

/** raise_catalog_of_partitions */
function raiseCatalog(world: World, mutation: Mutation | null): World['partitions'] {
  if (mutation === 'no_min_version') return world.partitions;
  const minVersion = world.meters.version + 1;
  return world.partitions.map((partition) =>
    partition.row === null
      ? partition
      : { ...partition, row: { ...partition.row, minVersion }, rowBefore: null },
  );
}

/** point_meter_at: readers switch to a version; the previous one still counts events. */
function pointAt(meters: MetersWorld, target: number): MetersWorld {
  const meterId = meters.versions[target]?.definition.meterId ?? '';
  const before = meters.inSight[meterId];
  const versions = meters.versions.map((version, index) => {
    if (index === target) return { ...version, isUnread: false };
    return index === before && version.retiredIn === null
      ? { ...version, isUnread: true }
      : version;
  });
  return { ...meters, versions, inSight: { ...meters.inSight, [meterId]: target } };
}

/** Gives up a change of the meter whose backfill was never completed. */
function withoutBackfill(version: MeterVersion): MeterVersion {
  return version.backfill === 'completed' ? version : { ...version, backfill: 'none' };
}

/** activate_meter_version (0005_meter_versions.sql): the next meter of the plan. */
export function activateMeterVersion(scenario: Scenario, world: World): World {
  const { meters } = world;
  const { mutation } = scenario;
  const plan = meters.versions.length;
  const meter = scenario.plan.meters[plan];
  if (meter === undefined) return world;
  const { meterId } = meter;
  const startOffsets = startOffsetsOf(world, mutation);
  const retiredIn = meters.version + 1;
  const seen = mutation === 'seen_version_retired' ? undefined : meters.inSight[meterId];
  const earlier = meters.versions.map((version, index) => {
    if (!ofMeter(version, meterId)) return version;
    const isKept = version.retiredIn !== null || index === seen;
    return withoutBackfill(isKept ? version : { ...version, retiredIn, end: startOffsets });
  });
  const hasEvents = startOffsets.some((liveFrom) => liveFrom > 0);
  const generation = meters.nextGeneration;
  const isReadable = !hasEvents || mutation === 'pointer_first';
  const added: MeterVersion = {
    plan,
    definition: definitionOf(meter, plan + 1, generation),
    activatedIn: retiredIn,
    retiredIn: null,
    end: 'open',
    startOffsets,
    readGenerations: isReadable ? [generation] : [],
    isUnread: false,
    backfill: hasEvents ? 'running' : 'none',
    attempts: 0,
    attemptGeneration: null,
  };
  const versions = [...earlier, added];
  // Readers of a new meter read its first version at once, which has no rows then.
  const inSight = { [meterId]: plan, ...meters.inSight };
  const next = withCatalog({ ...meters, versions, inSight, nextGeneration: generation + 1 });
  return {
    ...world,
    partitions: raiseCatalog(world, mutation),
    meters: isReadable ? pointAt(next, plan) : next,
  };
}

/** Retires versions that nobody reads; only the catalog changes. */
function retireLoosely(
  meters: MetersWorld,
  isIdle: (version: MeterVersion, index: number) => boolean,
): MetersWorld {
  const retiredIn = meters.version + 1;
  let count = 0;
  const versions = meters.versions.map((version, index): MeterVersion => {
    if (version.retiredIn !== null || !isIdle(version, index)) return version;
    count += 1;
    return { ...version, retiredIn, end: 'loose' };
  });
  return count === 0 ? meters : withCatalog({ ...meters, versions });
}

/** retire-unread-meter-versions.sql, without waiting. */
export function retireUnread(meters: MetersWorld): MetersWorld {
  return retireLoosely(meters, ({ isUnread }) => isUnread);
}

/** revert_meter_version: null unless the version is complete and still counts events. */
export function revertMeter(meters: MetersWorld, target: number): MetersWorld | null {
  const stream = meters.versions[target];
  if (stream === undefined || stream.retiredIn !== null) return null;
  if (stream.readGenerations.length === 0) return null;
  const { meterId } = stream.definition;
  const before = meters.inSight[meterId];
  const versions = meters.versions.map((version) =>
    ofMeter(version, meterId) ? withoutBackfill(version) : version,
  );
  const retired = retireLoosely(
    { ...meters, versions },
    (version, index) => ofMeter(version, meterId) && index !== target && index !== before,
  );
  return pointAt(retired, target);
}

/** Whether claim-backfill.sql would claim this version: its input no longer changes. */
export function isClaimable(
  scenario: Scenario,
  { partitions, meters }: World,
  index: number,
): boolean {
  const version = meters.versions[index];
  if (version?.backfill !== 'running' && version?.backfill !== 'failed') return false;
  if (version.attempts >= scenario.plan.limits.backfillAttempts) return false;
  if (scenario.mutation === 'backfill_before_input_stands') return true;
  return partitions.every(
    ({ row }, partition) =>
      row === null || row.nextOffset >= (version.startOffsets[partition] ?? 0),
  );
}

/**
 * claim-backfill.sql. A lease may have ended at any time, so another running attempt does not
 * prevent it.
 */
export function claimBackfill(
  meters: MetersWorld,
  index: number,
  mutation: Mutation | null,
): MetersWorld {
  const version = meters.versions[index];
  if (version === undefined) return meters;
  const resumed = mutation === 'attempt_resumed' ? version.attemptGeneration : null;
  const generation = resumed ?? meters.nextGeneration;
  const number = version.attempts + 1;
  const claimed: MeterVersion = {
    ...version,
    backfill: 'running',
    attempts: number,
    attemptGeneration: generation,
  };
  return {
    ...meters,
    versions: withItem(meters.versions, index, claimed),
    nextGeneration: resumed === null ? generation + 1 : meters.nextGeneration,
    attempts: [...meters.attempts, { version: index, number, generation, partitionsDone: 0 }],
  };
}

/** Whether the attempt still has the backfill, as complete and postpone check. */
export function hasBackfill(version: MeterVersion, attempt: Attempt): boolean {
  return version.backfill === 'running' && version.attempts === attempt.number;
}

/** complete_meter_backfill: readers switch unless the attempt was overtaken or given up. */
export function completeBackfill(
  meters: MetersWorld,
  attempt: Attempt,
  mutation: Mutation | null,
): MetersWorld {
  const version = meters.versions[attempt.version];
  if (version === undefined) return meters;
  if (!hasBackfill(version, attempt) && mutation !== 'completion_unguarded') return meters;
  const readGenerations = [version.definition.generation, attempt.generation];
  const completed: MeterVersion = { ...version, backfill: 'completed', readGenerations };
  const versions = withItem(meters.versions, attempt.version, completed);
  return pointAt({ ...meters, versions }, attempt.version);
}

/** postpone-backfill.sql */
export function postponeBackfill(meters: MetersWorld, attempt: Attempt): MetersWorld {
  const version = meters.versions[attempt.version];
  if (version === undefined || !hasBackfill(version, attempt)) return meters;
  const failed: MeterVersion = { ...version, backfill: 'failed' };
  return { ...meters, versions: withItem(meters.versions, attempt.version, failed) };
}

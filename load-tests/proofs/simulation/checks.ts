import { checkStored, type Tolerance } from './check-stored.js';
import type { Scenario } from './scenario.js';
import type { MeterVersion, Owner, PartitionWorld, World } from './world.js';

/** Whether a restore in the world caused a contradiction, so that the machine may halt. */
function isContradicted(scenario: Scenario, { isStrayFine, isLossFine }: Tolerance): boolean {
  return scenario.plan.hasOtherRelease || isStrayFine || isLossFine;
}

function toleranceOf({ plan }: Scenario, { budget }: World): Tolerance {
  return {
    isStrayFine: budget.restores < plan.limits.restores,
    isLossFine: budget.lostParts < plan.limits.lostParts,
  };
}

function checkHalts(owners: readonly Owner[]): string | null {
  for (const { step } of owners) {
    const { state } = step;
    if (state.phase === 'halted') return `halted without a contradiction: ${state.reason}`;
  }
  return null;
}

/** The epoch that an owner had when it stepped down; null when it did not just do so. */
function epochLeft(earlier: Owner | undefined, { step }: Owner): number | null {
  if (step.state.phase !== 'lost' || earlier === undefined) return null;
  const { state } = earlier.step;
  return 'checkpoint' in state ? state.checkpoint.epoch : null;
}

/** An owner steps down only when its epoch is no longer the newest. */
function checkStepsDown(partition: PartitionWorld, before: PartitionWorld | null): string | null {
  const { owners, row, gate } = partition;
  const newest = Math.max(row?.epoch ?? 0, gate);
  for (const [process, owner] of owners.entries()) {
    const epoch = epochLeft(before?.owners[process], owner);
    if (epoch === null || epoch < newest) continue;
    return `steps down in epoch ${epoch}, although it is the newest`;
  }
  return null;
}

function attemptEvents(world: World, version: MeterVersion, partition: number): number {
  const attempts = version.readGenerations.slice(1);
  let sum = 0;
  for (const generation of attempts) {
    for (const part of world.meters.attemptParts) {
      if (part.generation === generation && part.partition === partition) sum += part.events;
    }
  }
  return sum;
}

/**
 * What a reader finds who reads now, or who read the pointer of the meter long ago. For every
 * version that was ever visible, the attempts that its pointer names must hold each event below its
 * start offsets once. The rows of the live stream are checked by generation elsewhere, so together
 * no reader ever sees a mixture of versions.
 */
function checkReaders(scenario: Scenario, world: World): string | null {
  for (const version of world.meters.versions) {
    if (version.readGenerations.length === 0) continue;
    for (const [index, facts] of scenario.partitions.entries()) {
      const liveFrom = version.startOffsets[index] ?? 0;
      const expected = facts.matchesBelow[version.plan]?.[liveFrom] ?? 0;
      const found = attemptEvents(world, version, index);
      if (found === expected) continue;
      const meter = `version ${version.definition.version} in partition ${index}`;
      return `readers of ${meter} see ${found} of ${expected} events below its start offset`;
    }
  }
  return null;
}

/** Whether nothing changed on which the checks of a partition's rows depend. */
function isStoredSame(world: World, before: World | null, index: number): boolean {
  const partition = world.partitions[index];
  const earlier = before?.partitions[index];
  if (world.meters.versions !== before?.meters.versions) return false;
  return partition?.tables === earlier?.tables && partition?.row === earlier?.row;
}

/** Checks one partition, unless it is the same as in the previous world, which was right. */
function checkPartition(
  scenario: Scenario,
  world: World,
  at: { readonly index: number; readonly before: World | null; readonly tolerance: Tolerance },
): string | null {
  const { index, before, tolerance } = at;
  const stored = isStoredSame(world, before, index) ? null : checkStored(scenario, world, at);
  const partition = world.partitions[index];
  const isHaltFine = isContradicted(scenario, tolerance);
  if (stored !== null || isHaltFine || partition === undefined) return stored;
  const earlier = before?.partitions[index] ?? null;
  return checkHalts(partition.owners) ?? checkStepsDown(partition, earlier);
}

/**
 * What is wrong with a world, in words; null when nothing is. The previous world was right.
 */
export function checkWorld(scenario: Scenario, world: World, before: World | null): string | null {
  const tolerance = toleranceOf(scenario, world);
  for (let index = 0; index < world.partitions.length; index += 1) {
    const wrong = checkPartition(scenario, world, { index, before, tolerance });
    if (wrong !== null) return `partition ${index}: ${wrong}`;
  }
  const isRead = world.meters !== before?.meters && !tolerance.isLossFine;
  return isRead ? checkReaders(scenario, world) : null;
}

/** What was not consumed at the end, unless a contradiction halted the partition. */
function checkConsumed(scenario: Scenario, world: World, index: number): string | null {
  const { row, owners } = world.partitions[index] ?? { row: null, owners: [] };
  const isHalted = owners.some(({ step }) => step.state.phase === 'halted');
  if (isHalted) return null;
  const end = scenario.partitions[index]?.records.length ?? 0;
  if (row?.nextOffset === end && row.intent === null) return null;
  return `partition ${index}: never consumed beyond ${row?.nextOffset} of ${end}`;
}

/** What is incomplete at the end: unconsumed records or invisible backfills; else null. */
export function checkRest(scenario: Scenario, world: World): string | null {
  for (let index = 0; index < world.partitions.length; index += 1) {
    const wrong = checkConsumed(scenario, world, index);
    if (wrong !== null) return wrong;
  }
  // A halted partition may stay below the start offset of a meter for ever.
  if (isContradicted(scenario, toleranceOf(scenario, world))) return null;
  const open = world.meters.versions.find(
    ({ backfill }) => backfill === 'running' || backfill === 'failed',
  );
  return open === undefined ? null : `version ${open.definition.version} is never visible`;
}

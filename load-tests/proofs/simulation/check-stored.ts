import type { Checkpoint } from '../../../aggregator/protocol/state.js';
import type { PartitionFacts, Scenario } from './scenario.js';
import type { MetersWorld, MeterVersion, Part, PartitionWorld, World } from './world.js';

/** Deviations that a restored store explains; they are allowed until the machine halts. */
export type Tolerance = {
  /** PostgreSQL was restored, so that the tables may hold more than its checkpoint says. */
  readonly isStrayFine: boolean;
  /** ClickHouse was restored, so that the tables may hold less than the checkpoint says. */
  readonly isLossFine: boolean;
};

/** Below `finished` rows must exist, below `intended` they may, and beyond they must not. */
type Reach = { readonly finished: number; readonly intended: number };

function offsetsOf(row: Checkpoint | null): Reach {
  const finished = row?.nextOffset ?? 0;
  return { finished, intended: row?.intent?.end ?? finished };
}

function positionsOf(facts: PartitionFacts, row: Checkpoint | null): Reach {
  const { finished, intended } = offsetsOf(row);
  return { finished: facts.positions[finished] ?? 0, intended: facts.positions[intended] ?? 0 };
}

function countRows(facts: PartitionFacts, parts: readonly Part[]): Uint8Array {
  const counts = new Uint8Array(facts.offsets.length);
  for (const { rows } of parts) {
    for (const position of rows) counts[position] = (counts[position] ?? 0) + 1;
  }
  return counts;
}

function problemOf(
  found: number,
  isFirst: boolean,
  isStray: boolean,
): 'a duplicate is counted' | 'twice there' | 'beyond every intent' | null {
  if (found === 0) return null;
  if (!isFirst) return 'a duplicate is counted';
  if (found > 1) return 'twice there';
  return isStray ? 'beyond every intent' : null;
}

/** Events and ids: each distinct event once, all of them below the checkpoint, none beyond. */
function checkRows(
  facts: PartitionFacts,
  { row, tables, erased }: PartitionWorld,
  how: { readonly table: 'events' | 'ids'; readonly tolerance: Tolerance },
): string | null {
  const { finished, intended } = positionsOf(facts, row);
  const { isStrayFine, isLossFine } = how.tolerance;
  const counts = countRows(facts, tables[how.table]);
  for (const [position, found] of counts.entries()) {
    const isFirst = facts.isFirst[position] === true;
    const isErased = how.table === 'events' && erased.has(position);
    const isMissing = found === 0 && isFirst && position < finished && !isLossFine && !isErased;
    const isStray = position >= intended && !isStrayFine;
    const wrong = isMissing ? 'finished and not there' : problemOf(found, isFirst, isStray);
    if (wrong !== null) return `${wrong}: ${how.table} row of event ${position}`;
  }
  return null;
}

/**
 * Who finds usage finds the events behind it: readers rely on it (docs/domain.md 13.1). And of a
 * batch that has ids the events are there, from which it can be completed without the log.
 */
function checkEventsBehind(facts: PartitionFacts, partition: PartitionWorld): string | null {
  const { tables, erased } = partition;
  const events = countRows(facts, tables.events);
  for (const { rows } of tables.ids) {
    const alone = rows.find((position) => events[position] === 0 && !erased.has(position));
    if (alone !== undefined) return `an id without its event: ${alone}`;
  }
  for (const { start, end } of tables.usage) {
    const last = facts.positions[end] ?? 0;
    for (let position = facts.positions[start] ?? 0; position < last; position += 1) {
      const isThere = events[position] !== 0 || facts.isFirst[position] !== true;
      if (!isThere && !erased.has(position)) return `usage without its event: ${position}`;
    }
  }
  return null;
}

/** Duplicates below the checkpoint are kept, and nothing that counted is called a duplicate. */
function checkDuplicates(facts: PartitionFacts, { row, tables }: PartitionWorld): string | null {
  const { finished } = positionsOf(facts, row);
  for (const [position, found] of countRows(facts, tables.duplicates).entries()) {
    if (facts.isFirst[position] === true) {
      if (found > 0) return `called a duplicate: event ${position}`;
    } else if (found === 0 && position < finished) {
      return `duplicate not kept: event ${position}`;
    }
  }
  return null;
}

/**
 * No batch has two markers. A batch of nothing but duplicates leaves no rows that contradict a
 * restored PostgreSQL, so it may be written again, which counts nothing twice.
 */
function findTwice(parts: readonly Part[], { isStrayFine }: Tolerance): string | null {
  const known = new Set<number>();
  for (const { start, end, usage } of parts) {
    const batch = start * 4_096 + end;
    const isHarmless = isStrayFine && usage.length === 0;
    if (known.has(batch) && !isHarmless) return `two markers of the batch ${start}-${end}`;
    known.add(batch);
  }
  return null;
}

/** Every batch has at most one marker, and every finished one has it. */
function checkMarkers({ row, tables }: PartitionWorld, tolerance: Tolerance): string | null {
  const twice = findTwice(tables.usage, tolerance);
  if (twice !== null || tolerance.isStrayFine) return twice;
  const { finished, intended } = offsetsOf(row);
  let covered = 0;
  for (const { start, end } of tables.usage) {
    if (end > intended) return `usage beyond every intent at ${start}`;
    if (end <= finished) covered += end - start;
  }
  const isCovered = covered === finished || tolerance.isLossFine;
  return isCovered ? null : 'a finished batch without its marker';
}

type Offsets = { readonly start: number; readonly end: number };

function isInSight(meters: MetersWorld, { plan, definition }: MeterVersion): boolean {
  return meters.inSight[definition.meterId] === plan;
}

/** Offsets of a partition that the live stream of a version counts. */
function ownedBy(meters: MetersWorld, version: MeterVersion, partition: number): Offsets {
  const { end } = version;
  const isBounded = !isInSight(meters, version) && typeof end !== 'string';
  return {
    start: version.startOffsets[partition] ?? 0,
    end: isBounded ? (end[partition] ?? 0) : Number.POSITIVE_INFINITY,
  };
}

/** Distinct matching events in the overlap of two ranges. */
function matchesIn(below: readonly number[], owned: Offsets, range: Offsets): number {
  const start = Math.max(owned.start, range.start);
  const end = Math.min(owned.end, range.end);
  return end <= start ? 0 : (below[end] ?? 0) - (below[start] ?? 0);
}

function usageOf({ usage }: Part, generation: number): number {
  let sum = 0;
  for (const counted of usage) if (counted.generation === generation) sum += counted.events;
  return sum;
}

type Fold = {
  readonly generation: number;
  readonly matches: (range: Offsets) => number;
  /** Its end is not at an exact offset: each batch counts as a whole or not at all. */
  readonly isLoose: boolean;
  readonly isStrayFine: boolean;
};

/** Usage of one generation in each batch: the number of distinct events that it counts. */
function checkGeneration(parts: readonly Part[], finished: number, fold: Fold): string | null {
  const { generation, matches } = fold;
  for (const part of parts) {
    if (part.end > finished && fold.isStrayFine) continue;
    const expected = matches(part);
    const found = usageOf(part, generation);
    if (found === expected || (fold.isLoose && found === 0)) continue;
    const batch = `${part.start}-${part.end}`;
    return `generation ${generation} holds ${found} of ${expected} events of batch ${batch}`;
  }
  return null;
}

function checkUsage(
  facts: PartitionFacts,
  { partitions, meters }: World,
  at: { readonly index: number; readonly tolerance: Tolerance },
): string | null {
  const partition = partitions[at.index];
  if (partition === undefined) return null;
  const finished = partition.row?.nextOffset ?? 0;
  for (const version of meters.versions) {
    const below = facts.matchesBelow[version.plan] ?? [];
    const owned = ownedBy(meters, version, at.index);
    const wrong = checkGeneration(partition.tables.usage, finished, {
      generation: version.definition.generation,
      matches: (range) => matchesIn(below, owned, range),
      isLoose: version.end === 'loose' && !isInSight(meters, version),
      isStrayFine: at.tolerance.isStrayFine,
    });
    if (wrong !== null) return wrong;
  }
  return null;
}

/** Events that were counted as accepted: all events of each batch, duplicates included. */
function checkAccepted(facts: PartitionFacts, { tables }: PartitionWorld): string | null {
  for (const { start, end, accepted } of tables.usage) {
    const expected = (facts.positions[end] ?? 0) - (facts.positions[start] ?? 0);
    if (accepted !== expected) return `${accepted} of ${expected} events accepted at ${start}`;
  }
  return null;
}

/** The results of the fold: duplicates, usage, and the number of accepted events. */
function checkFold(
  scenario: Scenario,
  world: World,
  at: { readonly index: number; readonly tolerance: Tolerance },
): string | null {
  const partition = world.partitions[at.index];
  const facts = scenario.partitions[at.index];
  if (partition === undefined || facts === undefined) return null;
  return (
    checkDuplicates(facts, partition) ??
    checkUsage(facts, world, at) ??
    checkAccepted(facts, partition)
  );
}

/** What is wrong with the stored rows of one partition, in words; null when nothing is. */
export function checkStored(
  scenario: Scenario,
  world: World,
  at: { readonly index: number; readonly tolerance: Tolerance },
): string | null {
  const partition = world.partitions[at.index];
  const facts = scenario.partitions[at.index];
  if (partition === undefined || facts === undefined) return null;
  const { tolerance } = at;
  return (
    checkRows(facts, partition, { table: 'events', tolerance }) ??
    checkRows(facts, partition, { table: 'ids', tolerance }) ??
    checkMarkers(partition, tolerance) ??
    (tolerance.isLossFine ? null : checkEventsBehind(facts, partition)) ??
    (tolerance.isLossFine ? null : checkFold(scenario, world, at))
  );
}

import { offsetOf } from './simulated-clickhouse.js';
import type { PartitionFacts, Scenario } from './scenario.js';
import type { PartitionWorld, World } from './world.js';

/**
 * What `minutebook customers erase` does to one partition (docs/internals/architecture.md D-019).
 */
export type ErasureAction =
  /** It notes stored events of finished batches: every one, or every other one. */
  | { readonly kind: 'erase'; readonly partition: number; readonly every: number }
  /** ClickHouse has removed what was noted, at any later time. */
  | { readonly kind: 'remove_erased'; readonly partition: number };

/** Notes events, under a lock on the checkpoints while no intent stands. */
function note(
  { mutation }: Scenario,
  partition: PartitionWorld,
  of: { readonly facts: PartitionFacts; readonly every: number },
): PartitionWorld | null {
  const { row, tables, erased } = partition;
  if (row === null || (row.intent !== null && mutation !== 'erased_under_intent')) return null;
  const end = row.intent?.end ?? row.nextOffset;
  const noted = tables.events
    .flatMap(({ rows }) => rows)
    .filter((position) => position % of.every === 0 && !erased.has(position))
    .filter((position) => offsetOf(of.facts, position) < end);
  if (noted.length === 0) return null;
  const { lastBatch } = row;
  const isOfLast = (position: number): boolean =>
    lastBatch !== null && offsetOf(of.facts, position) >= lastBatch.start;
  const added = mutation === 'erased_not_noted' ? 0 : noted.filter(isOfLast).length;
  const last = lastBatch && { ...lastBatch, erased: lastBatch.erased + added };
  return {
    ...partition,
    row: { ...row, lastBatch: last },
    rowBefore: null,
    erased: new Set([...erased, ...noted]),
  };
}

function remove(partition: PartitionWorld): PartitionWorld | null {
  const { tables, erased } = partition;
  if (!isRemovalLeft(partition)) return null;
  const events = tables.events.map((part) => ({
    ...part,
    rows: part.rows.filter((position) => !erased.has(position)),
  }));
  return { ...partition, tables: { ...tables, events } };
}

function isRemovalLeft({ tables, erased }: PartitionWorld): boolean {
  return (
    erased.size > 0 &&
    tables.events.some(({ rows }) => rows.some((position) => erased.has(position)))
  );
}

export function applyErasure(
  scenario: Scenario,
  partition: PartitionWorld,
  of: { readonly action: ErasureAction; readonly facts: PartitionFacts },
): PartitionWorld | null {
  const { action, facts } = of;
  if (action.kind === 'remove_erased') return remove(partition);
  return note(scenario, partition, { facts, every: action.every });
}

/** Every erasure that can happen in a small world. */
export function erasuresOf({ partitions, budget }: World): readonly ErasureAction[] {
  return partitions.flatMap((one, partition): readonly ErasureAction[] => [
    ...(budget.erasures > 0 ? ([{ kind: 'erase', partition, every: 1 }] as const) : []),
    ...(isRemovalLeft(one) ? ([{ kind: 'remove_erased', partition }] as const) : []),
  ]);
}

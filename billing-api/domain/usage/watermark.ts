import type { EventCorrection } from './event-correction.js';

/** Up to where the events of one partition of a log count. */
export type PartitionEnd = {
  readonly log: string;
  readonly partition: number;
  /** Events at offsets below this one count. */
  readonly countedBelow: number;
};

/** What the usage of an invoice was read from (docs/domain.md 13.1). */
export type UsageWatermark = {
  /** Exactly the events below these ends count; of a partition that is not named, none. */
  readonly ends: readonly PartitionEnd[];
  /** The sets of minute rows that were added up, by the id of the meter. */
  readonly generations: ReadonlyMap<string, readonly number[]>;
  /** The corrections in force, by the id of the meter; absent where there were none. */
  readonly corrections?: ReadonlyMap<string, readonly EventCorrection[]>;
};

/** Tells partitions of all logs apart. */
export const partitionName = ({
  log,
  partition,
}: Pick<PartitionEnd, 'log' | 'partition'>): string => `${partition}:${log}`;

/** The ends of what lies below both; null has no end. */
export function nearerEnds(
  some: readonly PartitionEnd[] | null,
  others: readonly PartitionEnd[] | null,
): readonly PartitionEnd[] | null {
  if (some === null || others === null) return some ?? others;
  const known = new Map(others.map((end) => [partitionName(end), end.countedBelow]));
  return some.flatMap((end) => {
    const other = known.get(partitionName(end));
    return other === undefined ? [] : [{ ...end, countedBelow: Math.min(end.countedBelow, other) }];
  });
}

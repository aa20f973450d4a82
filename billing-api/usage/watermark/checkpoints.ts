import { sql, type CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { zip } from '../../../runtime/failure.js';
import { integerColumn } from '../../../sql/columns.js';
import type { PartitionEnd } from '../../domain/usage/watermark.js';
import type { BillingDatabase } from '../../records/unit.js';

const checkpointRow = z.object({
  log: z.string(),
  partition: z.number().int(),
  next_offset: integerColumn,
  is_intended: z.boolean(),
});

type Checkpoint = {
  readonly log: string;
  readonly partition: number;
  readonly nextOffset: number;
  /** Whether events from `nextOffset` on may be in ClickHouse. */
  readonly isIntended: boolean;
};

/**
 * How far the aggregator has finished each partition of each log: everything below is in
 * ClickHouse, and what lies above may be there in part.
 */
export class Checkpoints {
  readonly #nextOffsets: ReadonlyMap<string, number>;

  constructor(readonly all: readonly Checkpoint[]) {
    this.#nextOffsets = new Map(
      all.map(({ log, partition, nextOffset }) => [`${log}:${partition}`, nextOffset]),
    );
  }

  /** The first offset that is not finished; null for a partition that was never begun. */
  nextOffset(log: string, partition: number): number | null {
    return this.#nextOffsets.get(`${log}:${partition}`) ?? null;
  }

  /** The same partitions, as far as these bounds say, one for each in the same order. */
  raisedTo(bounds: readonly { readonly next_offset: number }[]): Checkpoints {
    return new Checkpoints(
      zip(this.all, bounds).map(([checkpoint, { next_offset: nextOffset }]) => ({
        ...checkpoint,
        nextOffset,
      })),
    );
  }

  /** Where each partition is finished. */
  get ends(): readonly PartitionEnd[] {
    return this.all.map(({ log, partition, nextOffset }) => ({
      log,
      partition,
      countedBelow: nextOffset,
    }));
  }

  /** Whether the record at this place is finished. */
  isFinished(place: { readonly logId: string; partition: number; offset: number }): boolean {
    const next = this.nextOffset(place.logId, place.partition);
    return next !== null && place.offset < next;
  }
}

/** The checkpoints as a connection sees them. They only rise: what is finished stays so. */
export async function findCheckpoints(
  connection: Pick<CommonQueryMethods, 'any'>,
): Promise<Checkpoints> {
  const rows = await connection.any(sql.type(checkpointRow)`
    SELECT log, partition, next_offset, intent_end IS NOT NULL AS is_intended
    FROM aggregator_checkpoints ORDER BY log, partition`);
  return new Checkpoints(
    rows.map((row) => ({
      log: row.log,
      partition: row.partition,
      nextOffset: row.next_offset,
      isIntended: row.is_intended,
    })),
  );
}

/** The checkpoints as of now. */
export function readCheckpoints(database: BillingDatabase): Promise<Checkpoints> {
  return findCheckpoints(database.slonik);
}

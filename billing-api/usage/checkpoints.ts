import { sql } from 'slonik';
import { z } from 'zod';
import { integerColumn } from '../../sql/columns.js';
import type { BillingDatabase } from '../records/unit.js';

const checkpointRow = z.object({
  log: z.string(),
  partition: z.number().int(),
  next_offset: integerColumn,
});

/**
 * How far the aggregator has finished each partition of each log: everything below is in
 * ClickHouse, and what lies above may be there in part.
 */
export class Checkpoints {
  readonly #nextOffsets: ReadonlyMap<string, number>;

  constructor(
    readonly all: readonly {
      readonly log: string;
      readonly partition: number;
      readonly nextOffset: number;
    }[],
  ) {
    this.#nextOffsets = new Map(
      all.map(({ log, partition, nextOffset }) => [`${log}:${partition}`, nextOffset]),
    );
  }

  /** The first offset that is not finished; null for a partition that was never begun. */
  nextOffset(log: string, partition: number): number | null {
    return this.#nextOffsets.get(`${log}:${partition}`) ?? null;
  }

  /** Whether the record at this place is finished. */
  isFinished(place: { readonly logId: string; partition: number; offset: number }): boolean {
    return place.offset < (this.nextOffset(place.logId, place.partition) ?? 0);
  }
}

/** The checkpoints as of now. They only rise: what they call finished stays so. */
export async function readCheckpoints(database: BillingDatabase): Promise<Checkpoints> {
  const rows = await database.slonik.any(sql.type(checkpointRow)`
    SELECT log, partition, next_offset FROM aggregator_checkpoints ORDER BY log, partition`);
  return new Checkpoints(
    rows.map((row) => ({ log: row.log, partition: row.partition, nextOffset: row.next_offset })),
  );
}

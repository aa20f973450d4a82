import { DependencyError } from '../../runtime/failure.js';
import type { IdList } from './known-ids.js';
import { ID_BYTES } from './bloom-filter.js';

type Reading = {
  /** The number of ids that the list counted. */
  readonly expected: number;
  readonly signal: AbortSignal;
  /** Called with whole ids, a few thousand at a time. */
  readonly use: (ids: Buffer) => void;
};

/**
 * Reads a list of ids in chunks, so that other partitions can work in between.
 * Resolves to false when the signal ended it early.
 * @throws DependencyError when ClickHouse fails, also when it returns another number of ids than
 *   it counted: a filter that lacks an id would let a duplicate count.
 */
export async function readIds(list: IdList, { expected, signal, use }: Reading): Promise<boolean> {
  if (expected === 0) return true;
  let rest: Buffer = Buffer.alloc(0);
  let read = 0;
  for await (const chunk of list.stream()) {
    if (signal.aborted) return false;
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const whole = bytes.length - (bytes.length % ID_BYTES);
    use(bytes.subarray(0, whole));
    rest = bytes.subarray(whole);
    read += whole / ID_BYTES;
  }
  if (read === expected && rest.length === 0) return true;
  throw new DependencyError(
    `ClickHouse returned ${read} ids and should have returned ${expected}; they are read again`,
    {
      dependency: 'clickhouse',
      isRetryable: true,
    },
  );
}

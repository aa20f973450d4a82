import { z } from 'zod';
import type { ClickHouse, QueryParameters } from '../../clickhouse/client.js';
import { assertPresent } from '../../runtime/failure.js';
import { integerColumn } from '../../sql/columns.js';
import type { PreviousShard } from './previous-logs.js';

const countRow = z.object({ found: integerColumn });

/** Offsets `[from, below)` of one partition. */
export type OffsetRange = { readonly from: number; readonly below: number };

/** Stored ids, whose set does not change between `count` and `stream`. */
export type IdList = {
  count(): Promise<number>;
  /**
   * Ids of 16 bytes each, in no order; a chunk may end inside an id. There are fewer than counted
   * when the server failed on the way.
   */
  stream(): AsyncIterable<Buffer>;
};

/** The ids of the current log by partition, and those of earlier logs. */
export type KnownIds = {
  ofPartition(partition: number, range: OffsetRange): IdList;
  ofPreviousLog(shard: PreviousShard): IdList;
};

const OF_PARTITION = `log_id = {log_id:String} AND log_partition = {log_partition:UInt32}
  AND log_offset >= {from:UInt64} AND log_offset < {below:UInt64}`;

const OF_PREVIOUS = `log_id = {log_id:String} AND log_partition IN {partitions:Array(UInt32)}`;
const OF_OTHERS = 'log_id NOT IN {logs:Array(String)}';

/** Reads `event_ids_v1`. Every method throws a DependencyError when the server fails. */
export function createKnownIds(clickhouse: ClickHouse, logId: string): KnownIds {
  const list = (where: string, parameters: QueryParameters): IdList => ({
    count: async () => {
      const select = `SELECT count() AS found FROM event_ids_v1 WHERE ${where}`;
      const [row] = await clickhouse.query(select, parameters, countRow);
      return assertPresent(row, 'the row of a SELECT of one aggregate').found;
    },
    stream: () =>
      clickhouse.streamBytes(`SELECT id_hash FROM event_ids_v1 WHERE ${where}`, parameters),
  });
  return {
    ofPartition: (partition, range) =>
      list(OF_PARTITION, { log_id: logId, log_partition: partition, ...range }),
    ofPreviousLog: (shard) =>
      'log' in shard
        ? list(OF_PREVIOUS, { log_id: shard.log, partitions: shard.partitions })
        : list(OF_OTHERS, { logs: shard.otherThan }),
  };
}

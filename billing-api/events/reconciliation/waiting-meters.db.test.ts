import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import { finishPartition } from '../../testing/finish-partition.js';
import { test } from '../../testing/billing-test.js';
import { readLongestWait } from './waiting-meters.js';

describe('the longest wait of a meter', () => {
  test('is that of the oldest one of all environments, and 0 when none waits', async ({
    api,
    database,
  }) => {
    const owner = ownerOf(database.database);
    const makeMeter = async (name: string): Promise<string> => {
      const body = { name, event_name: 'call', aggregation: { type: 'COUNT' } };
      return (await api.make('/v1/meters', body)).id as string;
    };
    // Of a log without events there is nothing to apply.
    await makeMeter('Of an empty log');
    expect(await readLongestWait(database.database.slonik)).toBe(0);
    await finishPartition(database.database, { logId: 'log', partition: 0, nextOffset: 5 });
    const meters = [await makeMeter('First'), await makeMeter('Second')];
    await owner.query(sql.type(z.unknown())`
      UPDATE meter_backfills SET started_at = now() - interval '40 minutes'
      WHERE meter_id = ${meters[1] ?? ''}`);
    expect(await readLongestWait(database.database.slonik)).toBeCloseTo(2_400, -1);
    await owner.query(sql.type(z.unknown())`UPDATE meter_backfills SET status = 'completed'`);
    expect(await readLongestWait(database.database.slonik)).toBe(0);
  });
});

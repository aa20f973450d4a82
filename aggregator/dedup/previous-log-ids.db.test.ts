import { sql } from 'slonik';
import { expect, vi } from 'vitest';
import { z } from 'zod';
import { eventKey, partitionOf } from '../../contract/event-key.js';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { hashText } from '../../runtime/hash-text.js';
import { environment, eventOf, send, test, totals, WAIT } from '../testing/aggregator-world.js';

const IDS = Array.from({ length: 60 }, (_, index) => `id-${index}`);

// The present log has two partitions.
test.for([
  { partitions: 2, isKnown: true },
  { partitions: 4, isKnown: true },
  { partitions: 5, isKnown: true },
  { partitions: 4, isKnown: false },
])(
  'An id of an earlier log with $partitions partitions counts no more, their number being known: $isKnown',
  async ({ partitions, isKnown }, { world }) => {
    const rows = IDS.map((id) => {
      const key = eventKey(environment, id);
      return `('before', ${partitionOf(key, partitions)}, unhex('${hashText(key)}'), 0, 0, '12345678', 0, true, 0)`;
    });
    await world.clickhouse.command(`INSERT INTO event_ids_v1 VALUES ${rows.join(', ')}`);
    if (isKnown) {
      await ownerOf(world.database).query(sql.type(z.unknown())`
        INSERT INTO aggregator_checkpoints (log, partition, next_offset, catalog_version, min_version)
        SELECT 'before', number, 1, 1, 1 FROM generate_series(0, ${partitions - 1}) AS number`);
    }
    await world.startAggregator();
    await send(
      world.writer,
      [...IDS, 'new'].map((id) => eventOf(id)),
    );
    await vi.waitFor(async () => {
      const { events, duplicates } = await totals(world.clickhouse);
      expect({ events, duplicates }).toEqual({ events: 1, duplicates: IDS.length });
    }, WAIT);
  },
);

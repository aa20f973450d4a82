import { describe, expect, vi } from 'vitest';
import { renewPostgresLogId } from '../../event-log/postgres/identity.js';
import { openPostgresReader } from '../../event-log/postgres/reader.js';
import { openPostgresWriter } from '../../event-log/postgres/writer.js';
import type { Command } from '../protocol/state.js';
import {
  acceptedEvents,
  createMeter,
  eventOf,
  wrongMarkers,
  readUsage,
  send,
  test,
  totals,
  WAIT,
} from '../testing/aggregator-world.js';

const nameOf = (command: Command): string =>
  command.kind === 'insert' ? `insert ${command.tables.join(' ')}` : command.kind;

/** What is left undone of each batch when its log is replaced. */
const UNDONE = ['insert events', 'insert ids', 'insert usage', 'insert duplicates'];

describe('a log that is replaced while a batch is intended', () => {
  test.for(UNDONE)(
    'leaves every event counted once, also by later meters, when "%s" was not done',
    async (undone, { world, database }) => {
      await createMeter(world.database, '[]');
      let failures = 0;
      const first = await world.startAggregator((command) => {
        if (nameOf(command) !== undone) return null;
        failures += 1;
        return 'before';
      });
      await send(
        world.writer,
        ['a', 'b', 'c', 'd', 'a'].map((id) => eventOf(id)),
      );
      await vi.waitFor(() => expect(failures).toBeGreaterThan(3), WAIT);
      await first.close();
      // Its start in the old log is the end of the intended batch.
      await createMeter(world.database, '[]', 'm2');
      await renewPostgresLogId(database.url);
      const reader = await openPostgresReader({ url: database.url, retentionMs: 3_600_000 });
      const writer = await openPostgresWriter({ url: database.url, produceTimeoutMs: 5_000 });
      const second = await world.startAggregator(undefined, reader);
      await send(writer, [eventOf('a', { timestampMs: 1 }), eventOf('e')]);
      await vi.waitFor(async () => {
        const { events, ids } = await totals(world.clickhouse);
        const read = [await readUsage(world), await readUsage(world, 'm2')];
        expect({ events, ids, read }).toEqual({ events: 5, ids: 5, read: [5, 5] });
      }, WAIT);
      expect(await wrongMarkers(world.clickhouse)).toEqual([]);
      // Duplicates are written before the counts of accepted events of their batch.
      await vi.waitFor(async () => {
        const { duplicates } = await totals(world.clickhouse);
        expect(await acceptedEvents(world.clickhouse)).toBe(5 + duplicates);
      }, WAIT);
      await second.close();
      await Promise.all([reader.close(), writer.close()]);
    },
  );
});

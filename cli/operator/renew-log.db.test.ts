import { describe, expect, vi } from 'vitest';
import { renewPostgresLogId } from '../../event-log/postgres/identity.js';
import { openPostgresReader } from '../../event-log/postgres/reader.js';
import { openPostgresWriter } from '../../event-log/postgres/writer.js';
import { runVerb } from '../../load-tests/harness/run-verb.js';
import type { Command } from '../../aggregator/protocol/state.js';
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
} from '../../aggregator/testing/aggregator-world.js';

const nameOf = (command: Command): string =>
  command.kind === 'insert' ? `insert ${command.tables.join(' ')}` : command.kind;

/** What is left undone of each batch when its log gets another id. */
const UNDONE = ['insert events', 'insert ids', 'insert usage', 'insert duplicates'];

describe('minutebook log renew while a batch is begun', () => {
  test.for(UNDONE)(
    'leaves every event counted once, also by later meters, when "%s" was not done',
    async (undone, { world, database, clickhouse }) => {
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
      // As when the verb was cut short: nobody counts before an operator has ended the batches.
      await renewPostgresLogId(database.url);
      const early = await openPostgresReader({ url: database.url, retentionMs: 3_600_000 });
      await expect(world.startAggregator(undefined, early)).rejects.toThrow(
        /has a batch that was begun and is not finished, and this program was started on log pg-/,
      );
      await early.close();
      const servers = { DATABASE_URL: database.url, CLICKHOUSE_URL: clickhouse.url };
      expect(await runVerb(servers, 'log', 'renew')).toMatchObject({ status: 0 });
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

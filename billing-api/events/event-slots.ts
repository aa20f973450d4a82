import { z } from 'zod';
import type { ClickHouseQueries } from '../../clickhouse/client.js';
import type { Environment } from '../../contract/environment.js';
import type { InstantMs, Interval } from '../../contract/instant.js';
import { integerColumn } from '../../sql/columns.js';
import { queryFile } from '../../clickhouse/query-file.js';

const COUNT_SLOTS = queryFile('count-event-slots');
const slotRow = z.object({ slot_ms: integerColumn, event_count: integerColumn });

/** Events per slot of UTC time, in no order; empty slots are left out. @throws DependencyError. */
export type CountEventSlots = (
  environment: Environment,
  wish: { readonly window: Interval; readonly slotMs: number },
) => Promise<readonly { readonly slotMs: InstantMs; readonly count: number }[]>;

export function createEventSlotCount(clickHouse: ClickHouseQueries): CountEventSlots {
  return async (environment, { window, slotMs }) => {
    const range = { fromMs: window.startMs, toMs: window.endMs };
    const parameters = { ...environment, ...range, slotMs };
    const rows = await clickHouse.query(COUNT_SLOTS, parameters, slotRow);
    return rows.map((row) => ({ slotMs: row.slot_ms, count: row.event_count }));
  };
}

import { z } from 'zod';
import type { ClickHouse } from '../../clickhouse/client.js';
import type { Environment } from '../../contract/environment.js';
import { DAY_MS, HOUR_MS, type InstantMs } from '../../contract/instant.js';
import { integerColumn } from '../../sql/columns.js';

const MONTHS = `SELECT DISTINCT partition FROM system.parts
  WHERE database = currentDatabase() AND table = 'events_v1' AND active ORDER BY partition`;

const hourOf = (column: string): string =>
  `toDateTime64(intDiv(toUnixTimestamp64Milli(${column}), ${HOUR_MS}) * ${HOUR_MS / 1_000}, 0, 'UTC')`;

/** A day at a time, so that no statement takes as long as a request may. */
const COUNT_DAY = `INSERT INTO expired_events_v1
  (tenant_id, environment_id, event_name, hour, received_hour, append_day, event_count)
  SELECT tenant_id, environment_id, event_name, ${hourOf('timestamp')} AS hour,
    ${hourOf('received_at')} AS received_hour, toDate32({day:String}), count()
  FROM events_v1
  WHERE appended_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
    AND appended_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
  GROUP BY tenant_id, environment_id, event_name, hour, received_hour
  SETTINGS max_bytes_before_external_group_by = 268435456`;

const OF_MONTH = 'append_day >= toDate32({from:String}) AND append_day < toDate32({to:String})';
const ENVIRONMENTS = `SELECT DISTINCT tenant_id, environment_id FROM expired_events_v1
  WHERE ${OF_MONTH}`;
const environmentRow = z.object({ tenant_id: z.string(), environment_id: z.string() });

const HAS_EXPIRED = `SELECT count() AS found FROM expired_events_v1
  WHERE tenant_id = {tenantId:String} AND environment_id = {environmentId:String}
    AND event_name = {eventName:String} AND append_day < toDate32({day:String})`;

const dayText = (dayMs: InstantMs): string => new Date(dayMs).toISOString().slice(0, 10);

/** The first instant of the month after that of this instant, in UTC. */
export function nextMonth(instant: InstantMs): InstantMs {
  const date = new Date(instant);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}

/** The raw events by month of append, which is what can be removed without reading them. */
export function createStoredMonths(clickhouse: ClickHouse) {
  return {
    /** First instants of the months of which events are stored, in order. */
    list: async (): Promise<readonly InstantMs[]> => {
      const rows = await clickhouse.query(MONTHS, {}, z.object({ partition: z.string() }));
      return rows.map(({ partition }) =>
        Date.UTC(Number(partition.slice(0, 4)), Number(partition.slice(4)) - 1),
      );
    },
    /** Forgets what was counted of a month that did not expire then: events may be gone since. */
    forgetCount: async (monthMs: InstantMs): Promise<void> => {
      const days = { from: dayText(monthMs), to: dayText(nextMonth(monthMs)) };
      const counted = await clickhouse.query(`${ENVIRONMENTS} LIMIT 1`, days, environmentRow);
      if (counted.length === 0) return;
      await clickhouse.command(
        `ALTER TABLE expired_events_v1 DELETE WHERE ${OF_MONTH} SETTINGS mutations_sync = 1`,
        days,
      );
    },
    /** Counts a month's events for those who will miss them; whose they are. May be repeated. */
    count: async (monthMs: InstantMs): Promise<readonly Environment[]> => {
      for (let dayMs = monthMs; dayMs < nextMonth(monthMs); dayMs += DAY_MS) {
        const parameters = { day: dayText(dayMs), from: dayMs, to: dayMs + DAY_MS };
        await clickhouse.command(COUNT_DAY, parameters);
      }
      const days = { from: dayText(monthMs), to: dayText(nextMonth(monthMs)) };
      const rows = await clickhouse.query(ENVIRONMENTS, days, environmentRow);
      return rows.map((row) => ({ tenantId: row.tenant_id, environmentId: row.environment_id }));
    },
    /** Removes the events of a month, all at once. May be repeated. */
    remove: async (monthMs: InstantMs): Promise<void> => {
      const partition = dayText(monthMs).slice(0, 7).replace('-', '');
      await clickhouse.command(
        `ALTER TABLE events_v1 DROP PARTITION ID '${partition}' SETTINGS max_partition_size_to_drop = 0`,
      );
      // How these events counted goes with them: it holds their texts.
      await clickhouse.command(
        `ALTER TABLE event_corrections_v1 DROP PARTITION ID '${partition}' SETTINGS max_partition_size_to_drop = 0`,
      );
    },
  };
}

export type StoredMonths = ReturnType<typeof createStoredMonths>;

/** Whether events of this name that were appended before the instant have been removed. */
export async function hasExpiredEvents(
  clickhouse: ClickHouse,
  of: { readonly environment: Environment; readonly eventName: string },
  beforeMs: InstantMs,
): Promise<boolean> {
  const parameters = { ...of.environment, eventName: of.eventName, day: dayText(beforeMs) };
  const rows = await clickhouse.query(HAS_EXPIRED, parameters, z.object({ found: integerColumn }));
  return (rows[0]?.found ?? 0) > 0;
}

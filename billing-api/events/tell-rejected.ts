import { sql } from 'slonik';
import { z } from 'zod';
import type { ClickHouse } from '../../clickhouse/client.js';
import { queryFile } from '../../clickhouse/query-file.js';
import type { Environment } from '../../contract/environment.js';
import { MINUTE_MS, type Interval } from '../../contract/instant.js';
import type { EffectiveMeter } from '../catalog/meters/effective-meters.js';
import { isOfEnvironment } from '../records/conditions.js';
import type { JobActor, Occasion } from '../records/occasion.js';
import {
  type BillingDatabase,
  mustWrite,
  type Unit,
  type WriteDependencies,
} from '../records/unit.js';
import { eventToDto } from './event-dto.js';
import { countsEvent, findCountingMeters } from './event-meters.js';
import { storedEventRow, type StoredEvent } from './events-store.js';

/** What telling of rejected events needs. */
export type RejectionNeeds = WriteDependencies & { readonly clickHouse: ClickHouse };

/** Names of which one look tells. */
const NAMES_MAX = 1_000;
const PAGE = 10_000;
const ENVIRONMENTS_MAX = 10_000;
/** Of one event name, rejections are told so far apart at least, by the instants of receipt. */
const APART_MS = 10 * MINUTE_MS;

const UNMETERED = queryFile('find-unmetered-events');
const RECEIVED = queryFile('list-received-events');

type Reason = 'no_meter_for_event_name' | 'no_matching_meter';
type Rejection = { readonly event: StoredEvent; readonly reason: Reason };

const environmentRow = z.object({ tenant_id: z.string(), environment_id: z.string() });

/** The environments whose setting event_rejected is enabled. */
export async function findTold({ slonik }: BillingDatabase): Promise<readonly Environment[]> {
  const rows = await slonik.any(sql.type(environmentRow)`
    SELECT tenant_id, environment_id FROM list_told_of_rejections(${ENVIRONMENTS_MAX})`);
  return rows.map((row) => ({ tenantId: row.tenant_id, environmentId: row.environment_id }));
}

/** Of each of these names, the first event of the window that no meter counts. */
async function findUnmatched(
  { clickHouse }: RejectionNeeds,
  environment: Environment,
  { window, meters }: { readonly window: Interval; readonly meters: readonly EffectiveMeter[] },
): Promise<readonly Rejection[]> {
  const found = new Map<string, Rejection>();
  const names = new Set(meters.map(({ eventName }) => eventName));
  // A meter without filters counts every event of its name, so none of them is rejected.
  for (const { eventName, filters, ends } of meters) {
    if (filters.length === 0 && ends === null) names.delete(eventName);
  }
  let behind = { behindMs: window.startMs - 1, behindId: '' };
  while (names.size > 0) {
    const range = { fromMs: window.startMs, toMs: window.endMs, ...behind };
    const parameters = { ...environment, ...range, names: [...names], limit: PAGE };
    const page = await clickHouse.query(RECEIVED, parameters, storedEventRow);
    for (const event of page) {
      const isCounted = meters.some((meter) => countsEvent(meter, event));
      if (isCounted || !names.delete(event.eventName)) continue;
      found.set(event.eventName, { event, reason: 'no_matching_meter' });
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) break;
    behind = { behindMs: last.receivedAtMs, behindId: last.eventId };
  }
  return [...found.values()];
}

async function findRejected(
  needs: RejectionNeeds,
  environment: Environment,
  window: Interval,
): Promise<readonly Rejection[]> {
  const meters = await findCountingMeters(needs.database, environment, null);
  const metered = [...new Set(meters.map(({ eventName }) => eventName))];
  const range = { fromMs: window.startMs, toMs: window.endMs, limit: NAMES_MAX };
  const parameters = { ...environment, ...range, metered };
  const unmetered = await needs.clickHouse.query(UNMETERED, parameters, storedEventRow);
  return [
    ...unmetered.map((event) => ({ event, reason: 'no_meter_for_event_name' }) as const),
    ...(await findUnmatched(needs, environment, { window, meters })),
  ];
}

const toldRow = z.object({ name: z.string(), received_at: z.string() });

/** When the event was received that was told of last, by the name. */
async function findLastTold(
  { tx }: Unit,
  names: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await tx.any(sql.type(toldRow)`
    SELECT DISTINCT ON (payload #>> '{event,event_name}') payload #>> '{event,event_name}' AS name,
      payload #>> '{event,received_at}' AS received_at
    FROM system_events
    WHERE event_name = 'event.rejected' AND ${isOfEnvironment}
      AND payload #>> '{event,event_name}' = ANY (${sql.array([...names], 'text')})
    ORDER BY payload #>> '{event,event_name}', sequence DESC`);
  return new Map(rows.map((row) => [row.name, Date.parse(row.received_at)]));
}

/**
 * Tells of events that were received in a window and that no meter counts: of each name once in ten
 * minutes. A window that is looked at twice tells nothing twice (docs/http.md 11.3).
 */
export async function tellRejected(
  needs: RejectionNeeds,
  occasion: Occasion<JobActor>,
  window: Interval,
): Promise<void> {
  const { environment } = occasion;
  const rejected = await findRejected(needs, environment, window);
  if (rejected.length === 0) return;
  await mustWrite(needs, occasion, async (unit) => {
    const told = await findLastTold(
      unit,
      rejected.map(({ event }) => event.eventName),
    );
    for (const { event, reason } of rejected) {
      const before = told.get(event.eventName);
      if (before !== undefined && event.receivedAtMs < before + APART_MS) continue;
      const payload = { reason, event: eventToDto(event, environment.environmentId) };
      const entity = { entityType: 'event', entityId: event.eventId };
      unit.events.push({ name: 'event.rejected', ...entity, payload });
    }
  });
}

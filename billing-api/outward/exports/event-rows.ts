import { sql } from 'slonik';
import { z } from 'zod';
import { queryFile } from '../../../clickhouse/query-file.js';
import { plain } from '../../../contract/number/decimal.js';
import { compileValueRule, type ValueRule } from '../../../contract/event-value.js';
import { formatInstant, type Interval } from '../../../contract/instant.js';
import type { EffectiveMeter } from '../../catalog/meters/effective-meters.js';
import { countsEvent, findCountingMeters } from '../../events/event-meters.js';
import { storedEventRow, type StoredEvent } from '../../events/events-store.js';
import { isOfEnvironment } from '../../records/conditions.js';
import type { JobActor, Occasion } from '../../records/occasion.js';
import { mustRead } from '../../records/unit.js';
import { ROWS_AT_ONCE, rowOf, type ExportNeeds, type Row } from './export-needs.js';

/** The columns of a file of events (docs/domain.md 33.6). */
export const EVENT_COLUMNS = [
  'id',
  'tenant_id',
  'environment_id',
  'external_customer_id',
  'customer_id',
  'meter_id',
  'feature_id',
  'event_name',
  'source',
  'timestamp',
  'ingested_at',
  'qty_total',
  'properties',
] as const;

const RECEIVED = queryFile('list-received-events');

type Counting = { readonly meter: EffectiveMeter; readonly rule: ValueRule };

/** What an event adds to a meter, as a text; null where its value cannot be read. */
function quantityOf({ rule }: Counting, { properties }: StoredEvent): string | null {
  const texts = rule.properties.map((key) =>
    // A property that is missing has no text.
    Object.hasOwn(properties, key) ? (properties[key] ?? null) : null,
  );
  const { value, isUnreadable } = rule.valueOf(texts);
  return isUnreadable ? null : plain(value);
}

const featureRow = z.object({ id: z.string(), meter_id: z.string() });

/** One row for each meter that counts the event, or one without a meter where none does. */
function rowsOf(
  event: StoredEvent,
  { tenantId, environmentId }: Occasion['environment'],
  known: { readonly meters: readonly Counting[]; readonly featureOf: ReadonlyMap<string, string> },
): readonly Row[] {
  const isExternal = event.customerKey.startsWith('e:');
  const counting = known.meters.filter(({ meter }) => countsEvent(meter, event));
  const row = (meterId: string | null, quantity: string | null): Row =>
    rowOf(EVENT_COLUMNS, {
      id: event.eventId,
      tenant_id: tenantId,
      environment_id: environmentId,
      external_customer_id: isExternal ? event.customerKey.slice(2) : null,
      customer_id: event.customerId,
      meter_id: meterId,
      feature_id: meterId === null ? null : (known.featureOf.get(meterId) ?? null),
      event_name: event.eventName,
      source: event.source === '' ? null : event.source,
      timestamp: formatInstant(event.timestampMs),
      ingested_at: formatInstant(event.receivedAtMs),
      qty_total: quantity,
      properties: JSON.stringify(event.properties),
    });
  if (counting.length === 0) return [row(null, null)];
  return counting.map((one) => row(one.meter.meterId, quantityOf(one, event)));
}

/** Events that were received in a window, in the order of their receipt. */
export async function* eventPages(
  needs: ExportNeeds,
  occasion: Occasion<JobActor>,
  { startMs, endMs }: Interval,
): AsyncGenerator<readonly Row[]> {
  const { environment } = occasion;
  const meters = await findCountingMeters(needs.database, environment, null);
  const features = await mustRead(needs, occasion, ({ tx }) =>
    tx.any(sql.type(featureRow)`
      SELECT id, meter_id FROM features
      WHERE meter_id IS NOT NULL AND status = 'published' AND ${isOfEnvironment}
      ORDER BY created_at DESC, id`),
  );
  const known = {
    meters: meters.map((meter) => ({
      meter,
      rule: compileValueRule(meter.aggregation, (text) => text),
    })),
    featureOf: new Map(features.map(({ id, meter_id: meterId }) => [meterId, id])),
  };
  let behind = { behindMs: startMs - 1, behindId: '' };
  for (;;) {
    const window = { fromMs: startMs, toMs: endMs, names: [], limit: ROWS_AT_ONCE, ...behind };
    const page = await needs.clickHouse.query(
      RECEIVED,
      { ...environment, ...window },
      storedEventRow,
    );
    const last = page.at(-1);
    if (last === undefined) return;
    yield page.flatMap((event) => rowsOf(event, environment, known));
    if (page.length < ROWS_AT_ONCE) return;
    behind = { behindMs: last.receivedAtMs, behindId: last.eventId };
  }
}

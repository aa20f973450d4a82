import { sql } from 'slonik';
import { z } from 'zod';
import { queryFile } from '../../clickhouse/query-file.js';
import type { ClickHouseQueries } from '../../clickhouse/client.js';
import type { Environment } from '../../contract/environment.js';
import { integerColumn } from '../../sql/columns.js';
import {
  CORRECTIONS,
  type CorrectionRow,
} from '../declarations/corrections/correction.resource.js';
import { textKeyed } from '../records/columns.js';
import { rowIsOfEnvironment } from '../records/conditions.js';
import type { ReadDependencies } from '../records/unit.js';
import type { StoredEvent } from './events-store.js';

/** How an event counts under one attempt to correct it. */
type NumberedEffect = {
  readonly number: number;
  readonly effect: 'amended' | 'withdrawn';
  /** As it counts instead; without meaning when it is withdrawn. */
  readonly after: Pick<StoredEvent, 'customerKey' | 'customerId' | 'timestampMs' | 'properties'>;
};

/** A correction of an event, which is or was in force. */
export type EventEffect = NumberedEffect & {
  readonly correction: CorrectionRow;
  readonly isInForce: boolean;
};

const FIND = queryFile('find-event-corrections');

const effectRow = z
  .object({
    number: integerColumn,
    effect: z.enum(['amended', 'withdrawn']),
    customer_key: z.string(),
    customer_id: z.string().nullable(),
    timestamp_ms: integerColumn,
    properties: textKeyed(z.string()),
  })
  .transform(({ number, effect, ...after }): NumberedEffect => ({
    number,
    effect,
    after: {
      customerKey: after.customer_key,
      customerId: after.customer_id,
      timestampMs: after.timestamp_ms,
      properties: after.properties,
    },
  }));

export type FindEventEffects = (
  environment: Environment,
  event: StoredEvent,
) => Promise<readonly NumberedEffect[]>;

/** Reads what was ever prepared for one event. */
export function createEventEffects(clickHouse: ClickHouseQueries): FindEventEffects {
  return ({ tenantId, environmentId }, { eventName, position }) => {
    const { logId, partition: logPartition, offset: logOffset, index: recordIndex } = position;
    const place = { logId, logPartition, logOffset, recordIndex };
    return clickHouse.query(FIND, { tenantId, environmentId, eventName, ...place }, effectRow);
  };
}

const numberedRow = z.object({ id: z.string(), number: integerColumn, is_applied: z.boolean() });

/** The corrections of an event that are or were in force, oldest first. */
export async function findEventCorrections(
  { database, eventEffects }: ReadDependencies & { readonly eventEffects: FindEventEffects },
  environment: Environment,
  event: StoredEvent,
): Promise<readonly EventEffect[]> {
  const effects = await eventEffects(environment, event);
  if (effects.length === 0) return [];
  const numbers = effects.map(({ number }) => number);
  return database.readSnapshot(environment, async (tx) => {
    const known = await tx.any(sql.type(numberedRow)`
      SELECT stretch.correction_id AS id, stretch.number, stretch.is_applied
      FROM event_correction_stretches AS stretch
      WHERE stretch.number = ANY (${sql.array(numbers, 'int8')}) AND stretch.event_name = ${event.eventName}
        AND ${rowIsOfEnvironment('stretch')}`);
    const rows = await tx.any(sql.type(CORRECTIONS.row)`
      SELECT * FROM event_corrections AS correction
      WHERE id = ANY (${sql.array(
        known.map(({ id }) => id),
        'text',
      )})
        AND correction_status IN ('applied', 'reverting', 'reverted') AND ${rowIsOfEnvironment('correction')}`);
    const byId = new Map(rows.map((row) => [row.id, row]));
    const byNumber = new Map(known.map((one) => [one.number, one]));
    return effects.flatMap((effect) => {
      const of = byNumber.get(effect.number);
      const correction = of === undefined ? undefined : byId.get(of.id);
      if (of === undefined || correction === undefined) return [];
      return [{ ...effect, correction, isInForce: of.is_applied }];
    });
  });
}

/** The event as it counts; null when it is withdrawn. */
export function countedEventOf(
  event: StoredEvent,
  effects: readonly EventEffect[],
): StoredEvent | null {
  const last = effects.findLast(({ isInForce }) => isInForce);
  if (last === undefined) return event;
  return last.effect === 'withdrawn' ? null : { ...event, ...last.after };
}

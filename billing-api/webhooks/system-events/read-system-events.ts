import { sql } from 'slonik';
import type { Occasion } from '../../records/occasion.js';
import { allOf, isEqual, isOfEnvironment } from '../../records/conditions.js';
import { accept, notFound } from '../../records/refusal.js';
import { readOperation } from '../../records/operation.js';
import { mustRead, type ReadDependencies } from '../../records/unit.js';
import { systemEventRow, type SystemEventRow, type SystemEventsQuery } from './system-event.js';

const columns = sql.fragment`id, sequence, event_name, entity_type, entity_id, payload,
  published_at, failure_count, failure_reason, created_at`;

export type SystemEvents = {
  readonly rows: readonly SystemEventRow[];
  readonly nextAfter: number;
  readonly hasMore: boolean;
};

/** GET /webhooks/events: what happened after a number, in order. */
export function listSystemEvents(
  dependencies: ReadDependencies,
  occasion: Occasion,
  query: SystemEventsQuery,
): Promise<SystemEvents> {
  const { after = 0, limit = 100 } = query;
  const where = allOf([
    sql.fragment`sequence > ${after}`,
    ...isEqual('event_name', query.event_type),
  ]);
  return mustRead(dependencies, occasion, async ({ tx }) => {
    const found = await tx.any(sql.type(systemEventRow)`
      SELECT ${columns} FROM system_events WHERE ${where} AND ${isOfEnvironment}
      ORDER BY sequence LIMIT ${limit + 1}`);
    const rows = found.slice(0, limit);
    const nextAfter = rows.at(-1)?.sequence ?? after;
    return { rows, nextAfter, hasMore: found.length > limit };
  });
}

/** GET /webhooks/events/{id}. */
export const readSystemEvent = readOperation(
  async ({ tx }, id: string): Promise<SystemEventRow> => {
    const row = await tx.maybeOne(sql.type(systemEventRow)`
      SELECT ${columns} FROM system_events WHERE id = ${id} AND ${isOfEnvironment}`);
    return accept(row ?? notFound('system event', id));
  },
);

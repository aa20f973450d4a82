import { sql } from 'slonik';
import { isObject } from '../../contract/is-object.js';
import { formatInstant } from '../../contract/instant.js';
import { noRows } from '../../sql/columns.js';
import { CURRENT_ENVIRONMENT, isOfEnvironment } from './conditions.js';
import { authorOf, type Actor } from './occasion.js';
import type { NewSystemEvent, RecordedChange } from './recorded-change.js';
import type { Unit } from './unit.js';

/** The columns of the audit trail that say who made a change (0035_occasions.sql). */
type AuditedActor = {
  readonly actor_kind: Actor['kind'];
  readonly actor_name: string | null;
  readonly run_id: string | null;
  readonly user_id: string | null;
  readonly api_key_id: string | null;
  readonly request_id: string | null;
};

const NOBODY = {
  actor_name: null,
  run_id: null,
  user_id: null,
  api_key_id: null,
  request_id: null,
};

function auditedActor(actor: Actor): AuditedActor {
  switch (actor.kind) {
    case 'request': {
      const { userId: user_id, apiKeyId: api_key_id, requestId: request_id } = actor;
      return { ...NOBODY, actor_kind: 'request', user_id, api_key_id, request_id };
    }
    case 'job':
      return { ...NOBODY, actor_kind: 'job', actor_name: actor.job, run_id: actor.runId };
    case 'operator':
      return { ...NOBODY, actor_kind: 'operator', actor_name: actor.name };
  }
}

async function storeAudit({ tx, actor, now, newId, changes }: Unit): Promise<void> {
  if (changes.length === 0) return;
  const entries = changes.map((change) => ({
    id: newId('audit'),
    entity_type: change.entityType,
    entity_id: change.entityId,
    action: change.action,
    before: change.before,
    after: change.after,
    ...auditedActor(actor),
    created_at: formatInstant(now),
  }));
  await tx.query(sql.type(noRows)`
    INSERT INTO audit_entries (tenant_id, environment_id, id, entity_type, entity_id, action,
      before, after, actor_kind, actor_name, run_id, user_id, api_key_id, request_id, created_at)
    SELECT ${CURRENT_ENVIRONMENT}, id, entity_type, entity_id, action,
      before, after, actor_kind, actor_name, run_id, user_id, api_key_id, request_id, created_at
    FROM jsonb_populate_recordset(NULL::audit_entries, ${JSON.stringify(entries)}::jsonb)`);
}

/** What a change always writes, also when it changes nothing else. */
const STAMPS: ReadonlySet<string> = new Set([
  'updated_at',
  'updated_by',
  'version',
  'record_version',
]);

function withoutStamps(record: object): string {
  return JSON.stringify(Object.entries(record).filter(([name]) => !STAMPS.has(name)));
}

function changesNothing({ before, after }: RecordedChange): boolean {
  return before !== null && withoutStamps(before) === withoutStamps(after);
}

/** The events of a unit; a change that has changed nothing is not told (docs/http.md 11.2). */
function toldEvents({ changes, events }: Unit): readonly NewSystemEvent[] {
  if (changes.length === 0 || !changes.every(changesNothing)) return events;
  return events.filter(({ name }) => !name.endsWith('.updated') && name !== 'invoice.update');
}

/** The events with what they tell beside the columns of a record, as the unit leaves it. */
async function completed(
  unit: Unit,
  events: readonly NewSystemEvent[],
): Promise<readonly NewSystemEvent[]> {
  const told: NewSystemEvent[] = [];
  for (const event of events) {
    const { entityType, payload, more = null } = event;
    const record = payload[entityType];
    if (more === null || !isObject(record)) told.push(event);
    else {
      const members = await more(unit, record);
      told.push({ ...event, payload: { ...payload, [entityType]: { ...record, ...members } } });
    }
  }
  return told;
}

/** Takes its numbers last, because other units of the environment wait for them from then on. */
async function storeEvents(unit: Unit): Promise<void> {
  const { tx, now, newId } = unit;
  const events = await completed(unit, toldEvents(unit));
  if (events.length === 0) return;
  const rows = events.map((event, index) => ({
    id: newId('sys_event'),
    ordinal: index + 1,
    event_name: event.name,
    entity_type: event.entityType,
    entity_id: event.entityId,
    // As a text, so that the order of its members is kept.
    payload: JSON.stringify({ event_type: event.name, ...event.payload }),
  }));
  await tx.query(sql.type(noRows)`
    WITH counter AS (
      INSERT INTO system_event_counters AS counters (tenant_id, environment_id, last_sequence)
      VALUES (${CURRENT_ENVIRONMENT}, ${rows.length})
      ON CONFLICT (tenant_id, environment_id)
      DO UPDATE SET last_sequence = counters.last_sequence + ${rows.length}
      RETURNING last_sequence
    )
    INSERT INTO system_events (tenant_id, environment_id, id, sequence, event_name, entity_type,
      entity_id, payload, created_at)
    SELECT ${CURRENT_ENVIRONMENT}, given.id, counter.last_sequence - ${rows.length} + given.ordinal,
      given.event_name, given.entity_type, given.entity_id, given.payload::json,
      ${formatInstant(now)}::timestamptz
    FROM counter, jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS given (id text,
      ordinal integer, event_name text, entity_type text, entity_id text, payload text)`);
}

/**
 * Raises the version of each record of which the unit has written parts, once: a record that it has
 * written itself is raised by that. What was computed from the old parts is then not stored.
 */
async function raiseWholes({ tx, actor, now, changes }: Unit): Promise<void> {
  const written = new Set(changes.map(({ entityType, entityId }) => `${entityType} ${entityId}`));
  const idsOf = new Map<string, Set<string>>();
  for (const { whole } of changes) {
    if (whole === undefined || written.has(`${whole.entityType} ${whole.id}`)) continue;
    idsOf.set(whole.table, (idsOf.get(whole.table) ?? new Set()).add(whole.id));
  }
  for (const [table, ids] of idsOf) {
    await tx.query(sql.type(noRows)`
      UPDATE ${sql.identifier([table])} SET version = version + 1,
        updated_at = ${formatInstant(now)}::timestamptz, updated_by = ${authorOf(actor)}
      WHERE id = ANY (${sql.array([...ids], 'text')}) AND ${isOfEnvironment}`);
  }
}

/**
 * Stores the audit entries and system events of a unit, in its transaction, and raises the versions
 * of what it has written parts of.
 */
export async function storeChanges(unit: Unit): Promise<void> {
  await raiseWholes(unit);
  await storeAudit(unit);
  await storeEvents(unit);
}

import { recordToAudit, recordToDto, type Resource, type RowOf } from './resource.js';
import type { Columns } from './columns.js';
import type { Unit } from './unit.js';

/** What the audit trail says was done to a record (docs/http.md 15). */
export type AuditAction = 'created' | 'updated' | 'archived' | 'deleted';

/** One record that a unit has written, with all of its columns. */
export type RecordedChange = {
  /** `price_unit`: the name of the resource as one word. */
  readonly entityType: string;
  readonly entityId: string;
  readonly action: AuditAction;
  /** Null for a new record. */
  readonly before: object | null;
  readonly after: object;
};

/** A system event that becomes visible with the change that caused it (docs/http.md 11.3). */
export type NewSystemEvent = {
  /** `feature.created`. */
  readonly name: string;
  readonly entityType: string;
  readonly entityId: string;
  /** What stands beside `event_type` in the payload. */
  readonly payload: Readonly<Record<string, unknown>>;
};

/** The ending of the event that announces an action: whatever can no longer be used is deleted. */
const EVENT_ENDINGS = {
  created: 'created',
  updated: 'updated',
  archived: 'deleted',
  deleted: 'deleted',
} as const satisfies Readonly<Record<AuditAction, string>>;

function entityTypeOf({ name }: Pick<Resource, 'name'>): string {
  return name.replaceAll(' ', '_');
}

function actionOf(before: RowOf<Columns> | null, after: RowOf<Columns>): AuditAction {
  if (before === null) return 'created';
  if (before.status === after.status || after.status === 'published') return 'updated';
  return after.status;
}

/** The members of an answer that the payload of an event has. */
export function payloadOf(
  members: readonly string[],
  answer: object,
): Readonly<Record<string, unknown>> {
  const values = new Map<string, unknown>(Object.entries(answer));
  return Object.fromEntries(members.map((name) => [name, values.get(name) ?? null]));
}

/**
 * Notes that a record was written, and the system event that its resource declares. Both are stored
 * at the end of the unit.
 */
export function recordChange<C extends Columns>(
  unit: Unit,
  resource: Resource<C>,
  { before, after }: { readonly before: RowOf<C> | null; readonly after: RowOf<C> },
): void {
  const action = actionOf(before, after);
  const entity = { entityType: entityTypeOf(resource), entityId: after.id };
  const was = before === null ? null : recordToAudit(resource, before);
  unit.changes.push({ ...entity, action, before: was, after: recordToAudit(resource, after) });
  if (resource.announces === null) return;
  const answer = recordToDto(resource, after);
  const { announces } = resource;
  const announced = announces === 'all' ? answer : payloadOf(announces, answer);
  const payload = { [entity.entityType]: announced };
  const name = `${entity.entityType}.${EVENT_ENDINGS[action]}`;
  unit.events.push({ ...entity, name, payload });
}

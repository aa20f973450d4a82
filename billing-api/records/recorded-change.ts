import { assertPresent, assertThat } from '../../runtime/failure.js';
import {
  SYSTEM_EVENT_NAMES,
  type SystemEventName,
} from '../domain/lifecycle/system-event-names.js';
import { recordToAudit, recordToDto, type Resource, type RowOf } from './resource.js';
import type { Columns } from './columns.js';
import type { Unit } from './unit.js';

/** What is done to any record; a life cycle adds the names of its moves (docs/http.md 15). */
export const PLAIN_ACTIONS = ['created', 'updated', 'archived', 'deleted'] as const;
type PlainAction = (typeof PLAIN_ACTIONS)[number];

/** One record that a unit has written, with all of its columns. */
export type RecordedChange = {
  /** `price_unit`: the name of the resource as one word. */
  readonly entityType: string;
  readonly entityId: string;
  /** One of PLAIN_ACTIONS or the name of a move. */
  readonly action: string;
  /** Null for a new record. */
  readonly before: object | null;
  readonly after: object;
  /** The record whose version rises with it; absent for a record that is no part of another. */
  readonly whole?: { readonly entityType: string; readonly table: string; readonly id: string };
};

/** A system event that becomes visible with the change that caused it (docs/http.md 11.3). */
export type NewSystemEvent = {
  /** `feature.created`. */
  readonly name: SystemEventName;
  readonly entityType: string;
  readonly entityId: string;
  /** What stands beside `event_type` in the payload. */
  readonly payload: Readonly<Record<string, unknown>>;
  /** Members of the record that are read when the unit ends. */
  readonly more?: Resource['alsoTells'];
};

/** The ending of the event that announces an action: whatever can no longer be used is deleted. */
const EVENT_ENDINGS = {
  created: 'created',
  updated: 'updated',
  archived: 'deleted',
  deleted: 'deleted',
} as const satisfies Readonly<Record<PlainAction, string>>;

function entityTypeOf({ name }: Pick<Resource, 'name'>): string {
  return name.replaceAll(' ', '_');
}

function actionOf(before: RowOf<Columns> | null, after: RowOf<Columns>): PlainAction {
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

/** The record that a part belongs to. */
function wholeOf(
  { partOf }: Pick<Resource, 'partOf'>,
  after: Readonly<Record<string, unknown>>,
): Pick<RecordedChange, 'whole'> {
  if (partOf === null) return {};
  const { column, whole } = partOf;
  const id = after[column];
  assertThat(typeof id === 'string', `${column} names a ${whole.name}`);
  return { whole: { entityType: entityTypeOf(whole), table: whole.table, id } };
}

/** A record that was written: what it was, null for a new one, and what it has become. */
type Written<C extends Columns> = {
  readonly before: RowOf<C> | null;
  readonly after: RowOf<C>;
};

/** Notes for the audit trail that a record was written; stored at the end of the unit. */
export function recordAudit<C extends Columns>(
  unit: Unit,
  resource: Resource<C>,
  { before, after, action }: Written<C> & { readonly action: string },
): void {
  if (!resource.isAudited) return;
  const was = before === null ? null : recordToAudit(resource, before);
  const entity = { entityType: entityTypeOf(resource), entityId: after.id };
  const audited = { action, before: was, after: recordToAudit(resource, after) };
  unit.changes.push({ ...entity, ...audited, ...wholeOf(resource, after) });
}

/** Adds a system event about a record to the unit, unless there is nothing to tell: null. */
export function announce(
  unit: Unit,
  resource: Pick<Resource, 'name'>,
  event: { readonly id: string; readonly name: SystemEventName; readonly told: unknown } & Pick<
    NewSystemEvent,
    'more'
  >,
): void {
  if (event.told === null) return;
  const entityType = entityTypeOf(resource);
  const payload = { [entityType]: event.told };
  const { name, more = null } = event;
  unit.events.push({ name, entityType, entityId: event.id, payload, more });
}

/** The event that tells of an action on a record, such as `feature.created`. */
function eventNameOf(resource: Pick<Resource, 'name'>, action: PlainAction): SystemEventName {
  const wanted = `${entityTypeOf(resource)}.${EVENT_ENDINGS[action]}`;
  const name = SYSTEM_EVENT_NAMES.find((one) => one === wanted);
  return assertPresent(name, `${wanted} among the names of system events`);
}

/**
 * Notes that a record was written, and the system event that its resource declares. Both are stored
 * at the end of the unit.
 */
export function recordChange<C extends Columns>(
  unit: Unit,
  resource: Resource<C>,
  { before, after }: Written<C>,
): void {
  const action = actionOf(before, after);
  recordAudit(unit, resource, { before, after, action });
  if (resource.announces === null) return;
  const answer = recordToDto(resource, after);
  const { announces } = resource;
  const told = announces === 'all' ? answer : payloadOf(announces, answer);
  const name = eventNameOf(resource, action);
  announce(unit, resource, { id: after.id, name, told, more: resource.alsoTells });
}

// The roles that there are (docs/http.md 1.11). No docstring here and below: it would become a
// description in the OpenAPI document.
export type RoleId =
  'super_admin' | 'all_writer' | 'all_reader' | 'event_ingestor' | 'event_reader';

// Who can have a role.
export type UserType = 'user' | 'service_account';

/** What an operation does, to which entity of the operation table; null for one without a name. */
export type Permission = { readonly entity: string | null; readonly access: 'read' | 'write' };

/** On which entities a role permits something. */
type Entities =
  | { readonly kind: 'all' | 'none' }
  | { readonly kind: 'only' | 'allBut'; readonly names: readonly string[] };

export type Role = {
  readonly id: RoleId;
  readonly description: string;
  readonly isFor: readonly UserType[];
  readonly read: Entities;
  readonly write: Entities;
};

const ALL: Entities = { kind: 'all' };
const NONE: Entities = { kind: 'none' };
/** The reasons of failures may name anything. */
const ALL_BUT_JOBS: Entities = { kind: 'allBut', names: ['job'] };
const EVENTS: Entities = { kind: 'only', names: ['event'] };

/**
 * Every role with what it permits, the strongest first: the one table by which ingest and the
 * billing API decide.
 */
export const ROLES: readonly Role[] = [
  {
    id: 'super_admin',
    description: 'Everything, also roles, settings and jobs',
    isFor: ['user', 'service_account'],
    read: ALL,
    write: ALL,
  },
  {
    id: 'all_writer',
    description: 'Reads everything but jobs; writes that, but roles of users and settings',
    isFor: ['user'],
    read: ALL_BUT_JOBS,
    write: { kind: 'allBut', names: ['setting', 'user_role', 'job'] },
  },
  {
    id: 'all_reader',
    description: 'Reads everything but jobs',
    isFor: ['user'],
    read: ALL_BUT_JOBS,
    write: NONE,
  },
  {
    id: 'event_ingestor',
    description: 'Sends events',
    isFor: ['service_account'],
    read: NONE,
    write: EVENTS,
  },
  {
    id: 'event_reader',
    description: 'Reads events',
    isFor: ['service_account'],
    read: EVENTS,
    write: NONE,
  },
];

const rolesById: ReadonlyMap<string, Role> = new Map(ROLES.map((role) => [role.id, role]));

function includes(entities: Entities, entity: string | null): boolean {
  switch (entities.kind) {
    case 'all':
      return true;
    case 'none':
      return false;
    case 'only':
      return entity !== null && entities.names.includes(entity);
    case 'allBut':
      return entity === null || !entities.names.includes(entity);
  }
}

/** Whether a role permits something; an unknown role permits nothing. */
export function roleAllows(role: string, { entity, access }: Permission): boolean {
  const known = rolesById.get(role);
  return known !== undefined && includes(known[access], entity);
}

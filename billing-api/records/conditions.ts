import { sql, type FragmentSqlToken } from 'slonik';
import { plain, type Decimal } from '../../contract/number/decimal.js';
import { formatInstant, type InstantMs } from '../../contract/instant.js';
import type { Lifecycle } from '../domain/lifecycle/lifecycle.js';

/**
 * One condition on columns, as SQL. The names of the columns are part of its type, so that it can
 * only be used on a resource that has them; they come from code and never from a request, and
 * values travel as bound parameters.
 */
export type ColumnCondition<Name extends string> = FragmentSqlToken & {
  readonly columns?: readonly Name[];
};

/** Conditions that are joined by AND; empty when the request does not restrict. */
export type Conditions<Name extends string> = readonly ColumnCondition<Name>[];

const column = (name: string) => sql.identifier([name]);

function timestampOf(instant: InstantMs): FragmentSqlToken {
  return sql.fragment`${formatInstant(instant)}::timestamptz`;
}

/** `column = ANY (texts)`; no condition when the list is absent. */
export function isOneOf<Name extends string>(
  name: Name,
  texts: readonly string[] | undefined,
): Conditions<Name> {
  if (texts === undefined) return [];
  return [sql.fragment`${column(name)} = ANY (${sql.array([...texts], 'text')})`];
}

/** As `isOneOf`, for a list that a request filters by: an empty one is no filter. */
export function isOneOfAsked<Name extends string>(
  name: Name,
  texts: readonly string[] | undefined,
): Conditions<Name> {
  return texts?.length === 0 ? [] : isOneOf(name, texts);
}

/** `column = text`; no condition when the text is absent. */
export function isEqual<Name extends string>(
  name: Name,
  text: string | undefined,
): Conditions<Name> {
  return text === undefined ? [] : [sql.fragment`${column(name)} = ${text}`];
}

/**
 * The column of a joined table, named as `['line', 'line_status']`, holds a state of this group of
 * a life cycle. The states stand in the statement itself, so that an index of just these rows can
 * serve it.
 */
export function rowIsIn<State extends string, Group extends string>(
  path: readonly string[],
  { groups }: Lifecycle<State, string, Group>,
  group: NoInfer<Group>,
): FragmentSqlToken {
  const states = groups[group].map((state) => sql.literalValue(state));
  return sql.fragment`${sql.identifier([...path])} IN (${sql.join(states, sql.fragment`, `)})`;
}

/** The column holds a state of this group of a life cycle, such as `alive`. */
export function isInGroup<Name extends string, State extends string, Group extends string>(
  name: Name,
  lifecycle: Lifecycle<State, string, Group>,
  group: NoInfer<Group>,
): Conditions<Name> {
  return [rowIsIn([name], lifecycle, group)];
}

/** What belongs to one of the plans that a request filters by; an empty list is no filter. */
export function isOfPlansAsked(
  planIds: readonly string[] | undefined,
): Conditions<'entity_type' | 'entity_id'> {
  if (planIds === undefined || planIds.length === 0) return [];
  return [...isEqual('entity_type', 'PLAN'), ...isOneOf('entity_id', planIds)];
}

/** `column = flag`; no condition when the flag is absent. */
export function isFlag<Name extends string>(
  name: Name,
  flag: boolean | undefined,
): Conditions<Name> {
  return flag === undefined ? [] : [sql.fragment`${column(name)} = ${flag}`];
}

/** The text occurs in the column, whatever its case; no condition when it is absent. */
export function hasText<Name extends string>(
  name: Name,
  text: string | undefined,
): Conditions<Name> {
  if (text === undefined) return [];
  return [sql.fragment`strpos(lower(${column(name)}), lower(${text})) > 0`];
}

/** `column > number`, compared exactly; no condition when it is absent. */
export function isAbove<Name extends string>(name: Name, number: Decimal | null): Conditions<Name> {
  return number === null ? [] : [sql.fragment`${column(name)} > ${plain(number)}::numeric`];
}

/** `column < instant`; no condition when the instant is absent. */
export function isBefore<Name extends string>(
  name: Name,
  instant: InstantMs | null,
): Conditions<Name> {
  return instant === null ? [] : [sql.fragment`${column(name)} < ${timestampOf(instant)}`];
}

/** `column >= instant`; no condition when the instant is absent. */
export function isNotBefore<Name extends string>(
  name: Name,
  instant: InstantMs | null,
): Conditions<Name> {
  return instant === null ? [] : [sql.fragment`${column(name)} >= ${timestampOf(instant)}`];
}

/** `column <= instant`. */
export function isStarted<Name extends string>(name: Name, instant: InstantMs): Conditions<Name> {
  return [sql.fragment`${column(name)} <= ${timestampOf(instant)}`];
}

/** The column is null or later than the instant. */
export function endsAfter<Name extends string>(name: Name, instant: InstantMs): Conditions<Name> {
  return [sql.fragment`(${column(name)} IS NULL OR ${column(name)} > ${timestampOf(instant)})`];
}

/** One of the columns is not null and at or before the instant; no condition when it is absent. */
export function isDue<Name extends string>(
  names: readonly Name[],
  instant: InstantMs | null,
): Conditions<Name> {
  if (instant === null) return [];
  const parts = names.map((name) => sql.fragment`${column(name)} <= ${timestampOf(instant)}`);
  return [sql.fragment`(${sql.join(parts, sql.fragment` OR `)})`];
}

/** The metadata have every one of these pairs exactly; no condition when they are absent. */
export function hasMetadata(
  pairs: Readonly<Record<string, unknown>> | undefined,
): Conditions<'metadata'> {
  return pairs === undefined ? [] : [sql.fragment`metadata @> ${JSON.stringify(pairs)}::jsonb`];
}

/** The record can be used: it is neither archived nor deleted. */
export const isPublished: Conditions<'status'> = [sql.fragment`status = 'published'`];

/**
 * That a row belongs to the environment of the transaction. It stands in the statements themselves,
 * beside row-level security: where that is bypassed, by a superuser's session for instance, they
 * still touch no row of another environment.
 */
export const isOfEnvironment = sql.fragment`tenant_id = current_setting('minutebook.tenant_id', true)
  AND environment_id = current_setting('minutebook.environment_id', true)`;

/** That a row belongs to the tenant of the transaction, such as a user: it has no environment. */
export const isOfTenant = sql.fragment`tenant_id = current_setting('minutebook.tenant_id', true)`;

/** That a row of a resource belongs to the environment of the transaction, or to its tenant. */
export function isOfScope({ scope }: { readonly scope: 'environment' | 'tenant' }) {
  return scope === 'tenant' ? isOfTenant : isOfEnvironment;
}

/** Tenant and environment of the transaction: two values for the columns of a new row. */
export const CURRENT_ENVIRONMENT = sql.fragment`current_setting('minutebook.tenant_id', true),
  current_setting('minutebook.environment_id', true)`;

/** As `isOfEnvironment`, for the rows of one table, or alias of a table, of a join. */
export function rowIsOfEnvironment(table: string): FragmentSqlToken {
  return sql.fragment`${sql.identifier([table, 'tenant_id'])} = current_setting('minutebook.tenant_id', true)
    AND ${sql.identifier([table, 'environment_id'])} = current_setting('minutebook.environment_id', true)`;
}

/** The conditions joined by AND. */
export function allOf(conditions: readonly FragmentSqlToken[]): FragmentSqlToken {
  return conditions.length === 0
    ? sql.fragment`true`
    : sql.fragment`${sql.join([...conditions], sql.fragment` AND `)}`;
}

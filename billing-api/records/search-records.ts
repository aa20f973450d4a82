import { sql, type FragmentSqlToken } from 'slonik';
import { z } from 'zod';
import { mapInTurns } from '../../runtime/loop-turns.js';
import { integerColumn } from '../../sql/columns.js';
import { formatInstant } from '../../contract/instant.js';
import type { Columns } from './columns.js';
import { allOf, isOfScope, type Conditions } from './conditions.js';
import { expandRecords, type Expanded, type Expansions } from './expand-record.js';
import type { ListDto, PaginationDto } from './record-dto.js';
import { accept } from './refusal.js';
import type { ColumnName, Resource, RowOf } from './resource.js';
import {
  readSearch,
  type Condition,
  type FilterField,
  type FilterOperator,
  type MemberType,
  type Operand,
  type SearchBodyRequest,
  type SearchCommand,
} from './search-request.js';
import type { ReadUnit } from './unit.js';

/** One page of a list or search. */
export type Page<Item> = { readonly items: readonly Item[]; readonly pagination: PaginationDto };

const CAST: Readonly<Record<MemberType, string>> = {
  string: 'text',
  number: 'numeric',
  boolean: 'bool',
  date: 'timestamptz',
};

type Comparison = (left: FragmentSqlToken, right: FragmentSqlToken) => FragmentSqlToken;

/** A record without a value differs from every value: `neq`, `not_in`, `not_contains` take it. */
const COMPARISONS: Readonly<Record<FilterOperator, Comparison>> = {
  eq: (left, right) => sql.fragment`(${left} = ${right})`,
  neq: (left, right) => sql.fragment`(${left} IS DISTINCT FROM ${right})`,
  contains: (left, right) => sql.fragment`(strpos(${left}, ${right}) > 0)`,
  not_contains: (left, right) => sql.fragment`(coalesce(strpos(${left}, ${right}), 0) = 0)`,
  gt: (left, right) => sql.fragment`(${left} > ${right})`,
  gte: (left, right) => sql.fragment`(${left} >= ${right})`,
  lt: (left, right) => sql.fragment`(${left} < ${right})`,
  lte: (left, right) => sql.fragment`(${left} <= ${right})`,
  before: (left, right) => sql.fragment`(${left} < ${right})`,
  after: (left, right) => sql.fragment`(${left} > ${right})`,
  in: (left, right) => sql.fragment`(${left} = ANY (${right}))`,
  not_in: (left, right) => sql.fragment`(coalesce(${left} = ANY (${right}), false) = false)`,
};

/** The value of a metadata key as the operand's type; null when it is of another type. */
function metadataValue(key: string, type: MemberType | 'array'): FragmentSqlToken {
  const text = sql.fragment`(metadata ->> ${key})`;
  switch (type) {
    case 'number':
      return sql.fragment`CASE WHEN jsonb_typeof(metadata -> ${key}) = 'number' THEN ${text}::numeric END`;
    case 'boolean':
      return sql.fragment`CASE WHEN jsonb_typeof(metadata -> ${key}) = 'boolean' THEN ${text}::bool END`;
    case 'string':
    case 'date':
    case 'array':
      return text;
  }
}

function operandValue(operand: Exclude<Operand, { type: 'array' }>): FragmentSqlToken {
  switch (operand.type) {
    case 'string':
      return sql.fragment`${operand.text}::text`;
    case 'number':
      return sql.fragment`${operand.text}::numeric`;
    case 'boolean':
      return sql.fragment`${operand.flag}::bool`;
    case 'date':
      return sql.fragment`${formatInstant(operand.instantMs)}::timestamptz`;
  }
}

function arrayValue(texts: readonly string[], field: FilterField): FragmentSqlToken {
  const type = field.kind === 'member' ? CAST[field.type] : 'text';
  return sql.fragment`${sql.array([...texts], 'text')}::${sql.identifier([type])}[]`;
}

function conditionSql(condition: Condition): FragmentSqlToken {
  const { field, operator, operand } = condition;
  const left =
    field.kind === 'member'
      ? sql.fragment`${sql.identifier([field.name])}`
      : metadataValue(field.key, operand.type);
  const right = operand.type === 'array' ? arrayValue(operand.texts, field) : operandValue(operand);
  return COMPARISONS[operator](left, right);
}

const DIRECTION = { asc: sql.fragment`ASC`, desc: sql.fragment`DESC` };

function whereSql(command: SearchCommand, extra: readonly FragmentSqlToken[]): FragmentSqlToken {
  const from = command.createdFromMs;
  const before = command.createdBeforeMs;
  return allOf([
    sql.fragment`status = ${command.status}`,
    ...(from === null ? [] : [sql.fragment`created_at >= ${formatInstant(from)}::timestamptz`]),
    ...(before === null ? [] : [sql.fragment`created_at < ${formatInstant(before)}::timestamptz`]),
    ...command.conditions.map(conditionSql),
    ...extra,
  ]);
}

const NULLS_LAST = sql.fragment` NULLS LAST`;

/**
 * In the requested order; ties by id, in the direction of the last key. A column that is never null
 * says nothing about nulls: with NULLS LAST no index could serve its descending order.
 */
function orderSql(
  { allColumns }: Pick<Resource, 'allColumns'>,
  { sort }: SearchCommand,
): FragmentSqlToken {
  const keys = [...sort, { name: 'id', direction: sort.at(-1)?.direction ?? 'desc' }];
  const parts = keys.map(({ name, direction }) => {
    const nulls = allColumns[name]?.schema.isNullable() === false ? sql.fragment`` : NULLS_LAST;
    return sql.fragment`${sql.identifier([name])} ${DIRECTION[direction]}${nulls}`;
  });
  return sql.fragment`${sql.join(parts, sql.fragment`, `)}`;
}

/**
 * So many matches beyond the page are counted: a few milliseconds, where counting a million takes
 * hundreds.
 */
const COUNTED_BEYOND_PAGE_MAX = 10_000;

type Matches = {
  readonly resource: Pick<Resource, 'table' | 'scope'>;
  readonly where: FragmentSqlToken;
};
/** A page that was read: `itemCount` of them are on it. */
type ReadPage = { readonly limit: number; readonly offset: number; readonly itemCount: number };

/**
 * The environment once more, as values: PostgreSQL then compares every row that it counts with a
 * constant, where it would call `current_setting` for each, which takes twice as long.
 */
function isOfEnvironmentNamed(
  { scope }: Pick<Resource, 'scope'>,
  { tenantId, environmentId }: ReadUnit['environment'],
): FragmentSqlToken {
  const isOfTenant = sql.fragment`tenant_id = ${tenantId}`;
  if (scope === 'tenant') return isOfTenant;
  return sql.fragment`${isOfTenant} AND environment_id = ${environmentId}`;
}

/** How many records match, exactly or at least (docs/http.md 1.6). */
export async function countMatches(
  { tx, environment }: ReadUnit,
  { resource, where }: Matches,
  { limit, offset, itemCount }: ReadPage,
): Promise<PaginationDto> {
  const isLast = itemCount < limit && (itemCount > 0 || offset === 0);
  if (isLast) return { limit, offset, total: offset + itemCount };
  const most = offset + limit + COUNTED_BEYOND_PAGE_MAX;
  const { total } = await tx.one(sql.type(z.object({ total: integerColumn }))`
    SELECT count(*) AS total FROM (
      SELECT FROM ${sql.identifier([resource.table])} WHERE ${where} AND ${isOfScope(resource)}
        AND ${isOfEnvironmentNamed(resource, environment)}
      LIMIT ${most + 1}) AS counted`);
  if (total <= most) return { limit, offset, total };
  return { limit, offset, total: most, total_is_lower_bound: true };
}

async function findPage<C extends Columns>(
  unit: ReadUnit,
  resource: Resource<C>,
  { command, where }: { readonly command: SearchCommand; readonly where: FragmentSqlToken },
): Promise<Page<RowOf<C>>> {
  const table = sql.identifier([resource.table]);
  const { limit, offset } = command;
  const items = await unit.tx.any(sql.type(resource.row)`
    SELECT ${resource.selected} FROM ${table} WHERE ${where} AND ${isOfScope(resource)}
    ORDER BY ${orderSql(resource, command)}
    LIMIT ${limit} OFFSET ${offset}`);
  const page = { limit, offset, itemCount: items.length };
  return { items, pagination: await countMatches(unit, { resource, where }, page) };
}

/** A search as it was requested, and the conditions of the resource's own members. */
export type Search<C extends Columns> = {
  readonly request: SearchBodyRequest;
  readonly conditions: Conditions<ColumnName<C>>;
};

/**
 * Answers a common search body (docs/http.md 1.6): one page of the records of the environment that
 * meet it and the conditions, with the expansions it names, and how many meet them in all. No
 * request can change the form of the statement: names of columns come from the resource, values
 * travel as bound parameters.
 */
export async function searchExpanded<C extends Columns, Answers extends object>(
  unit: ReadUnit,
  resource: Resource<C>,
  search: Search<C> & { readonly expansions: Expansions<RowOf<C>, Answers> },
): Promise<Page<Expanded<RowOf<C>, Answers>>> {
  const { expansions } = search;
  const searchable = { members: resource.members, expandable: Object.keys(expansions) };
  const command = accept(readSearch(search.request, searchable));
  const where = whereSql(command, search.conditions);
  const { items: rows, pagination } = await findPage(unit, resource, { command, where });
  const items = await expandRecords(unit, rows, { expansions, names: command.expand });
  return { items, pagination };
}

/** As `searchExpanded`, for a resource without expandable members. */
export async function searchRecords<C extends Columns>(
  unit: ReadUnit,
  resource: Resource<C>,
  search: Search<C>,
): Promise<Page<RowOf<C>>> {
  const page = await searchExpanded(unit, resource, { ...search, expansions: {} });
  return { ...page, items: page.items.map(({ row }) => row) };
}

/** A page as it is answered; others have their turns while a long one is made. */
export async function pageToDto<Item, Dto>(
  { items, pagination }: Page<Item>,
  toDto: (item: Item) => Dto,
): Promise<ListDto<Dto>> {
  return { items: await mapInTurns(items, toDto), pagination };
}

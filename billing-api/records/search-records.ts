import { sql, type FragmentSqlToken } from 'slonik';
import { z } from 'zod';
import { integerColumn } from '../../sql/columns.js';
import { formatInstant } from '../../contract/instant.js';
import type { Columns } from './columns.js';
import { allOf, type Conditions, isOfEnvironment } from './conditions.js';
import { expandRecords, type Expanded, type Expansions } from './expand-record.js';
import type { PaginationDto } from './record-dto.js';
import { isRefusal, type Refusal } from './refusal.js';
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

/** In the requested order; ties by id, in the direction of the last key. */
function orderSql({ sort }: SearchCommand): FragmentSqlToken {
  const keys = [...sort, { name: 'id', direction: sort.at(-1)?.direction ?? 'desc' }];
  const parts = keys.map(
    (key) => sql.fragment`${sql.identifier([key.name])} ${DIRECTION[key.direction]} NULLS LAST`,
  );
  return sql.fragment`${sql.join(parts, sql.fragment`, `)}`;
}

async function findPage<C extends Columns>(
  { tx }: ReadUnit,
  resource: Resource<C>,
  { command, where }: { readonly command: SearchCommand; readonly where: FragmentSqlToken },
): Promise<{ readonly rows: readonly RowOf<C>[]; readonly total: number }> {
  const table = sql.identifier([resource.table]);
  const { limit, offset } = command;
  const rows = await tx.any(sql.type(resource.row)`
    SELECT * FROM ${table} WHERE ${where} AND ${isOfEnvironment}
    ORDER BY ${orderSql(command)}
    LIMIT ${limit} OFFSET ${offset}`);
  if (offset === 0 && rows.length < limit) return { rows, total: rows.length };
  const { total } = await tx.one(sql.type(z.object({ total: integerColumn }))`
    SELECT count(*) AS total FROM ${table} WHERE ${where} AND ${isOfEnvironment}`);
  return { rows, total };
}

/** A search as it was requested, and the conditions of the resource's own members. */
type Search<C extends Columns> = {
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
): Promise<Page<Expanded<RowOf<C>, Answers>> | Refusal> {
  const { expansions } = search;
  const searchable = { members: resource.members, expandable: Object.keys(expansions) };
  const command = readSearch(search.request, searchable);
  if (isRefusal(command)) return command;
  const where = whereSql(command, search.conditions);
  const { rows, total } = await findPage(unit, resource, { command, where });
  const items = await expandRecords(unit, rows, { expansions, names: command.expand });
  if (isRefusal(items)) return items;
  return { items, pagination: { limit: command.limit, offset: command.offset, total } };
}

/** As `searchExpanded`, for a resource without expandable members. */
export async function searchRecords<C extends Columns>(
  unit: ReadUnit,
  resource: Resource<C>,
  search: Search<C>,
): Promise<Page<RowOf<C>> | Refusal> {
  const page = await searchExpanded(unit, resource, { ...search, expansions: {} });
  return isRefusal(page) ? page : { ...page, items: page.items.map(({ row }) => row) };
}

/** A page as it is answered. */
export function pageToDto<Item, Dto>(
  { items, pagination }: Page<Item>,
  toDto: (item: Item) => Dto,
): { items: Dto[]; pagination: PaginationDto } {
  return { items: items.map(toDto), pagination };
}

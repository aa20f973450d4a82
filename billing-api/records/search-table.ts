import { sql, type FragmentSqlToken } from 'slonik';
import { z } from 'zod';
import { integerColumn } from '../../sql/columns.js';
import { formatInstant } from '../../contract/instant.js';
import type {
  Condition,
  FilterField,
  FilterOperator,
  MemberType,
  MemberTypes,
  Operand,
  SearchCommand,
} from './search-request.js';
import type { Transaction } from './unit.js';

/**
 * A table that can be searched. The names of its members come from this declaration and never from
 * a request, values travel as bound parameters: no request can change the form of a statement.
 */
export type SearchableTable<Schema extends z.ZodTypeAny> = {
  readonly name: string;
  readonly row: Schema;
  readonly members: MemberTypes;
  /** Columns whose name differs from their member's. */
  readonly columnOf?: Readonly<Record<string, string>>;
};

/** Scalar members that every record has. */
export const RECORD_MEMBERS = {
  id: 'string',
  tenant_id: 'string',
  environment_id: 'string',
  status: 'string',
  created_at: 'date',
  created_by: 'string',
  updated_at: 'date',
  updated_by: 'string',
} as const satisfies MemberTypes;

export type Page<Row> = { readonly rows: readonly Row[]; readonly total: number };

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

function memberColumn(
  name: string,
  columnOf: Readonly<Record<string, string>> | undefined,
): FragmentSqlToken {
  return sql.fragment`${sql.identifier([columnOf?.[name] ?? name])}`;
}

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

function conditionSql(
  condition: Condition,
  columnOf: Readonly<Record<string, string>> | undefined,
): FragmentSqlToken {
  const { field, operator, operand } = condition;
  const left =
    field.kind === 'member'
      ? memberColumn(field.name, columnOf)
      : metadataValue(field.key, operand.type);
  const right = operand.type === 'array' ? arrayValue(operand.texts, field) : operandValue(operand);
  return COMPARISONS[operator](left, right);
}

const AND = sql.fragment` AND `;
const DIRECTION = { asc: sql.fragment`ASC`, desc: sql.fragment`DESC` };

function whereSql(
  command: SearchCommand,
  columnOf: Readonly<Record<string, string>> | undefined,
  extra: readonly FragmentSqlToken[],
): FragmentSqlToken {
  const from = command.createdFromMs;
  const before = command.createdBeforeMs;
  const parts = [
    sql.fragment`status = ${command.status}`,
    ...(from === null ? [] : [sql.fragment`created_at >= ${formatInstant(from)}::timestamptz`]),
    ...(before === null ? [] : [sql.fragment`created_at < ${formatInstant(before)}::timestamptz`]),
    ...command.conditions.map((condition) => conditionSql(condition, columnOf)),
    ...extra,
  ];
  return sql.fragment`${sql.join(parts, AND)}`;
}

/** In the order asked for; ties by id, in the direction of the last key. */
function orderSql(
  command: SearchCommand,
  columnOf: Readonly<Record<string, string>> | undefined,
): FragmentSqlToken {
  const keys = [
    ...command.sort,
    { name: 'id', direction: command.sort.at(-1)?.direction ?? 'desc' },
  ];
  const parts = keys.map(
    (key) =>
      sql.fragment`${memberColumn(key.name, columnOf)} ${DIRECTION[key.direction]} NULLS LAST`,
  );
  return sql.fragment`${sql.join(parts, sql.fragment`, `)}`;
}

/**
 * One page of the records of the environment that meet the search and the extra conditions, and how
 * many meet them in all.
 */
export async function searchTable<Schema extends z.ZodTypeAny>(
  transaction: Transaction,
  table: SearchableTable<Schema>,
  search: { readonly command: SearchCommand; readonly extra: readonly FragmentSqlToken[] },
): Promise<Page<z.output<Schema>>> {
  const name = sql.identifier([table.name]);
  const where = whereSql(search.command, table.columnOf, search.extra);
  const { limit, offset } = search.command;
  const rows = await transaction.any(sql.type(table.row)`
    SELECT * FROM ${name} WHERE ${where}
    ORDER BY ${orderSql(search.command, table.columnOf)}
    LIMIT ${limit} OFFSET ${offset}`);
  if (offset === 0 && rows.length < limit) return { rows, total: rows.length };
  const { total } = await transaction.one(sql.type(z.object({ total: integerColumn }))`
    SELECT count(*) AS total FROM ${name} WHERE ${where}`);
  return { rows, total };
}

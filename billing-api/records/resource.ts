import { sql, type FragmentSqlToken } from 'slonik';
import { z } from 'zod';
import { assertThat } from '../../runtime/failure.js';
import type { Lifecycle } from '../domain/lifecycle/lifecycle.js';
import {
  recordColumns,
  type Column,
  type Columns,
  type DefaultedColumn,
  type HiddenColumn,
  type ValueOf,
} from './columns.js';
import type { MetadataDto, RecordDto } from './record-dto.js';
import type { MemberTypes } from './search-request.js';
import type { ReadUnit } from './unit.js';

export type RecordRow = {
  readonly [Name in keyof typeof recordColumns]: ValueOf<(typeof recordColumns)[Name]>;
};

type NamesOf<C extends Columns> = keyof C & string;
type DefaultedNames<C extends Columns> = {
  [Name in NamesOf<C>]: C[Name] extends DefaultedColumn<Column> ? Name : never;
}[NamesOf<C>];
type AnsweredNames<C extends Columns> = {
  [Name in NamesOf<C>]: C[Name] extends HiddenColumn<Column> ? never : Name;
}[NamesOf<C>];

/** A stored record: the columns of the resource and those that every record has. */
export type RowOf<C extends Columns> = RecordRow & {
  readonly [Name in NamesOf<C>]: ValueOf<C[Name]>;
};

/**
 * What a new record is made of: a value for every column, null included; only what has a DEFAULT
 * in the table may be left out.
 */
export type NewRecord<C extends Columns> = {
  readonly [Name in Exclude<NamesOf<C>, DefaultedNames<C>>]: ValueOf<C[Name]>;
} & {
  readonly [Name in DefaultedNames<C>]?: ValueOf<C[Name]>;
} & {
  readonly metadata?: MetadataDto;
  /** Made from the resource's prefix when absent. */
  readonly id?: string;
};

/** What a change writes; members that are absent stay as they are. */
export type Patch<C extends Columns> = {
  readonly [Name in NamesOf<C>]?: ValueOf<C[Name]>;
} & { readonly metadata?: MetadataDto };

/** The members of a record as they are answered, without what `expand` adds. */
export type AnswerOf<C extends Columns> = RecordDto & {
  [Name in AnsweredNames<C>]: ReturnType<C[Name]['toAnswer']>;
};

export type ColumnName<C extends Columns> = NamesOf<C> | keyof RecordRow;

/** What functions that work on any resource know of one. */
export type ReferencedResource = {
  readonly name: string;
  readonly table: string;
  /** The text that a record must have in a column, so that it may be named here. */
  readonly having?: { readonly column: string; readonly is: string };
};

/** A resource whose version rises when its parts are written. */
type PartedResource = Pick<ReferencedResource, 'name' | 'table'>;

/** What an event tells of a record beside its columns. */
type AlsoTold = (
  unit: ReadUnit,
  record: Readonly<Record<string, unknown>>,
) => object | Promise<object>;

type Declaration<C extends Columns> = {
  /** As messages call one record: `price unit`. */
  readonly name: string;
  /** Ids are `<prefix>_<ULID>`. */
  readonly idPrefix: string;
  readonly table: string;
  /** Columns of its own; those of every record are added. */
  readonly columns: C;
  /** Unique index of the table → the member that a 409 names. */
  readonly unique?: Readonly<Record<string, NamesOf<C>>>;
  /** Column with an id → the resource it refers to, which must be published when it is set. */
  readonly references?: { readonly [Name in NamesOf<C>]?: ReferencedResource };
  /** The status that DELETE gives; null for a record that is never removed. */
  readonly removal: 'archived' | 'deleted' | null;
  /**
   * The life of a record, and the column that holds its state: `moveRecord` moves it on, and a
   * change touches only what its state allows. A record without one has no states.
   */
  readonly lifecycle?: { readonly column: NamesOf<C>; readonly of: Lifecycle } | null;
  /**
   * Whether each change stands in the audit trail. False for parts of a record that is audited as
   * a whole, such as its lines, which would stand there twice. True unless it says otherwise.
   */
  readonly isAudited?: boolean;
  /**
   * The members of the system events `<name>.created`, `.updated` and `.deleted` that every write
   * of a record causes (docs/http.md 11.3); no events when absent.
   */
  readonly announces?: readonly (NamesOf<C> | keyof typeof recordColumns)[] | 'all' | null;
  /** What those events tell beside the columns: asked when the unit ends, so it tells all of it. */
  readonly alsoTells?: AlsoTold | null;
  /**
   * The record that these are parts of, and the column with its id: a unit that writes parts raises
   * its version once, so that whoever has read it before notices.
   */
  readonly partOf?: { readonly column: NamesOf<C>; readonly whole: PartedResource } | null;
  /**
   * Whose the records are: an environment's, unless it says otherwise. The table of a tenant's
   * records has no environment_id, and their rows lack it.
   */
  readonly scope?: 'environment' | 'tenant';
};

/** A kind of record, declared once; every function of this folder works on it. */
export type Resource<C extends Columns = Columns> = Required<Declaration<C>> & {
  /** Checks a row of the table. */
  readonly row: z.ZodType<RowOf<C>, z.ZodTypeDef, unknown>;
  readonly allColumns: Columns;
  /** Those of `allColumns` that are answered. */
  readonly answered: readonly (readonly [name: string, column: Column])[];
  /** What a SELECT of the table reads. */
  readonly selected: FragmentSqlToken;
  /** What filters and sorts can name. */
  readonly members: MemberTypes;
};

/**
 * Checks the rows of a table. No amount of money may have finer digits than its currency; one that
 * does throws, so that the statement that writes it is undone.
 */
function rowSchemaOf(table: string, columns: Columns): z.ZodTypeAny {
  const entries = Object.entries(columns);
  const schema = z.object(
    Object.fromEntries(entries.map(([name, column]) => [name, column.schema])),
  );
  const amounts = entries.filter(([, { currencyColumn }]) => currencyColumn !== undefined);
  if (amounts.length === 0) return schema;
  for (const [name, { currencyColumn = name }] of amounts) {
    assertThat(currencyColumn in columns, `${table} has the column of the currency of ${name}`);
  }
  return schema.superRefine((row: Readonly<Record<string, unknown>>) => {
    for (const [name, column] of amounts) column.toAnswer(row[name], row);
  });
}

/**
 * Declares a resource. The table has the columns of every record (id, tenant_id, environment_id,
 * status, metadata, created_*, updated_*) beside its own and is isolated by environment.
 *
 *     export const PLANS = defineResource({
 *       name: 'plan', idPrefix: 'plan', table: 'plans',
 *       columns: { name: text, description: nullable(text), version: recordVersion },
 *       removal: 'archived',
 *     });
 *     export type PlanRow = RecordOf<typeof PLANS>;
 */
export function defineResource<const C extends Columns>(declaration: Declaration<C>): Resource<C> {
  const { environment_id, ...tenantColumns } = recordColumns;
  const isOfTenant = declaration.scope === 'tenant';
  const allColumns: Columns = {
    ...tenantColumns,
    ...(isOfTenant ? {} : { environment_id }),
    ...declaration.columns,
  };
  const members = Object.entries(allColumns).flatMap(([name, column]) =>
    column.comparison === null ? [] : [[name, column.comparison] as const],
  );
  return {
    unique: {},
    references: {},
    announces: null,
    alsoTells: null,
    lifecycle: null,
    isAudited: true,
    partOf: null,
    scope: 'environment',
    ...declaration,
    allColumns,
    answered: Object.entries(allColumns).filter(([, column]) => !('isHidden' in column)),
    selected: sql.fragment`*`,
    // The type of a row follows from the columns, which TypeScript cannot see through the loop.
    row: rowSchemaOf(declaration.table, allColumns) as unknown as Resource<C>['row'],
    members: Object.fromEntries(members),
  };
}

/** A column that is no part of the table: an expression that names the table gives its value. */
type ReadColumn<Value, Answer> = {
  readonly column: Omit<Column<Value, Answer>, 'toJson'>;
  readonly expression: FragmentSqlToken;
};

/**
 * The resource with one more column, which one statement reads together with the record, such as a
 * list of what belongs to it. Only for reading: writing such a column throws.
 */
export function withReadColumn<C extends Columns, const Name extends string, Value, Answer>(
  resource: Resource<C>,
  name: Name,
  { column, expression }: ReadColumn<Value, Answer>,
): Resource<C & Readonly<Record<Name, Column<Value, Answer>>>> {
  const toJson = (): never => {
    throw new Error(`${name} is only read with a ${resource.name}, never written`);
  };
  const columns = { ...resource.columns, [name]: { ...column, toJson } };
  // TypeScript does not see which key a computed name adds.
  return {
    ...defineResource({ ...resource, columns }),
    selected: sql.fragment`*, (${expression}) AS ${sql.identifier([name])}`,
  } as unknown as Resource<C & Readonly<Record<Name, Column<Value, Answer>>>>;
}

/** The state of a record in its life cycle. */
export function stateIn(
  { column }: { readonly column: string },
  row: Readonly<Record<string, unknown>>,
): string {
  const state = row[column];
  assertThat(typeof state === 'string', `${column} holds a state`);
  return state;
}

/** The row type of a resource: `RecordOf<typeof PLANS>`. */
export type RecordOf<R> = R extends Resource<infer C> ? RowOf<C> : never;

/** The record as it is answered: every column that is not hidden. */
export function recordToDto<C extends Columns>(resource: Resource<C>, row: RowOf<C>): AnswerOf<C> {
  const values: Readonly<Record<string, unknown>> = row;
  // Pages are made of it: an object made of entries takes eight times as long.
  const answer: Record<string, unknown> = {};
  for (const [name, column] of resource.answered) {
    answer[name] = column.toAnswer(values[name], values);
  }
  // As above: the loop makes exactly the members of AnswerOf.
  return answer as AnswerOf<C>;
}

type OwnColumnsOf<C extends Columns> = {
  readonly [Name in Exclude<NamesOf<C>, DefaultedNames<C>>]: ValueOf<C[Name]>;
};

/** What a copy of a record is made of: its own columns without those that the table fills. */
export function ownColumnsOf<C extends Columns>(
  { columns }: Resource<C>,
  row: RowOf<C>,
): OwnColumnsOf<C> {
  const values: Readonly<Record<string, unknown>> = row;
  const own = Object.entries(columns).flatMap(([name, column]) =>
    'hasDefault' in column ? [] : [[name, values[name]] as const],
  );
  // The loop makes exactly these columns of C, which TypeScript cannot see.
  return Object.fromEntries(own) as OwnColumnsOf<C>;
}

/**
 * The record with all columns, hidden ones too, but neither secrets nor copies of other records:
 * what the audit trail keeps of it.
 */
export function recordToAudit<C extends Columns>(
  resource: Resource<C>,
  row: RowOf<C>,
): Readonly<Record<string, unknown>> {
  const values: Readonly<Record<string, unknown>> = row;
  const columns = Object.entries(resource.allColumns).filter(
    ([, column]) => !('isSecret' in column || 'isUnaudited' in column),
  );
  return Object.fromEntries(
    columns.map(([name, column]) => [name, column.toAnswer(values[name], values)]),
  );
}

/**
 * Values of columns as JSON from which PostgreSQL makes a row; undefined ones are left out.
 * @throws for an unknown column.
 */
export function rowToJson(
  resource: Pick<Resource, 'allColumns' | 'table'>,
  values: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  const members = given.map(([name, value]) => {
    const column = resource.allColumns[name];
    if (column === undefined) throw new Error(`${resource.table} has no column ${name}`);
    return [name, column.toJson(value)] as const;
  });
  return Object.fromEntries(members);
}

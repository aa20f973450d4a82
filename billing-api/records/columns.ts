import { z } from 'zod';
import { decimalOf, plain, type Decimal } from '../../contract/number/decimal.js';
import { formatInstant, type InstantMs } from '../../contract/instant.js';
import { assertThat } from '../../runtime/failure.js';
import { instantColumn, integerColumn, numericColumn } from '../../sql/columns.js';
import { Money, formatMoney } from '../domain/money/money.js';
import { rateToDto, type DateTime, type DecimalText, type MetadataDto } from './record-dto.js';
import type { MemberType } from './search-request.js';

/** A row as it was read, with its values by column. */
export type RowValues = Readonly<Record<string, unknown>>;

/**
 * One column of a table: how its values come out of PostgreSQL, how they are written, how a search
 * compares them, and how they are answered. `Value` is what the code works with.
 */
export type Column<Value = unknown, Answer = unknown> = {
  /** Checks a value as the driver gives it. */
  readonly schema: z.ZodType<Value, z.ZodTypeDef, unknown>;
  /** Null for values that no filter and no sort can name. */
  readonly comparison: MemberType | null;
  /** The value in the JSON from which PostgreSQL makes rows. */
  toJson(value: Value): unknown;
  /** The value as it is answered with the other values of its row. */
  toAnswer(value: Value, row: RowValues): Answer;
  /** The column of the same row that holds the currency, where this one holds money. */
  readonly currencyColumn?: string;
};

/** A column that a new row may leave out: the DEFAULT of the table applies. */
export type DefaultedColumn<C extends Column> = C & { readonly hasDefault: true };
/** A column that is no member of the resource: it is neither answered nor searched. */
export type HiddenColumn<C extends Column> = C & { readonly isHidden: true };

export type Columns = Readonly<Record<string, Column>>;
export type ValueOf<C extends Column> = z.output<C['schema']>;

function plainColumn<Value>(
  schema: z.ZodType<Value, z.ZodTypeDef, unknown>,
  comparison: MemberType | null,
): Column<Value, Value> {
  return { schema, comparison, toJson: (value) => value, toAnswer: (value) => value };
}

export const text = plainColumn(z.string(), 'string');
export const flag = plainColumn(z.boolean(), 'boolean');
/** integer: 32 bits. */
export const integer = plainColumn(z.number().int(), 'number');
/** bigint whose values stay below 2^53. */
export const safeInteger = plainColumn(integerColumn, 'number');

/** timestamptz: milliseconds since 1970 in code, a UTC date-time in answers. */
export const instant: Column<InstantMs, DateTime> = {
  schema: instantColumn,
  comparison: 'date',
  toJson: formatInstant,
  toAnswer: formatInstant,
};

/** numeric, as text: no digit is lost; answered without trailing zeros. */
export const decimal: Column<string, DecimalText> = {
  ...plainColumn(numericColumn, 'number'),
  toAnswer: rateToDto,
};

/**
 * numeric: money of the currency that another column of the row holds, a decimal in code, answered
 * with exactly the minor digits of that currency (docs/domain.md 6.6). A row with a finer amount
 * can be neither written nor read.
 */
export function money(currencyColumn: string): Column<Decimal, DecimalText> {
  return {
    schema: numericColumn.transform(decimalOf),
    comparison: 'number',
    toJson: plain,
    currencyColumn,
    toAnswer: (value, { [currencyColumn]: currency }) => {
      assertThat(typeof currency === 'string', `${currencyColumn} holds the currency of an amount`);
      return formatMoney(new Money(value, currency));
    },
  };
}

/** One of these texts. */
export function oneOf<const Texts extends readonly [string, ...string[]]>(
  texts: Texts,
): Column<Texts[number], Texts[number]> {
  return plainColumn<Texts[number]>(z.enum<string, [string, ...string[]]>([...texts]), 'string');
}

/** jsonb of this shape. */
export function json<Value>(schema: z.ZodType<Value, z.ZodTypeDef, unknown>): Column<Value, Value> {
  return plainColumn(schema, null);
}

export function nullable<Value, Answer>(
  column: Column<Value, Answer>,
): Column<Value | null, Answer | null> {
  const { currencyColumn } = column;
  return {
    ...(currencyColumn === undefined ? {} : { currencyColumn }),
    schema: column.schema.nullable(),
    comparison: column.comparison,
    toJson: (value) => (value === null ? null : column.toJson(value)),
    toAnswer: (value, row) => (value === null ? null : column.toAnswer(value, row)),
  };
}

export function withDefault<C extends Column>(column: C): DefaultedColumn<C> {
  return { ...column, hasDefault: true };
}

export function hidden<C extends Column>(column: C): HiddenColumn<C> {
  return { ...column, comparison: null, isHidden: true };
}

/** A copy of another record, which the audit trail has of its own: it is not kept there again. */
export function unaudited<C extends Column>(column: C): C & { readonly isUnaudited: true } {
  return { ...column, isUnaudited: true };
}

/** bytea that is a secret: it is neither answered nor kept in the audit trail. */
export const secretBytes: HiddenColumn<Column<Buffer>> & { readonly isSecret: true } = {
  schema: z.custom<Buffer>((value) => Buffer.isBuffer(value)),
  comparison: null,
  toJson: (bytes) => `\\x${bytes.toString('hex')}`,
  toAnswer: () => null,
  isHidden: true,
  isSecret: true,
};

/**
 * An object whose keys belong to callers, such as metadata. z.record loses the key `__proto__`,
 * which is a key like any other here: the object is checked and stays as it was parsed.
 */
export function textKeyed<Value extends z.ZodTypeAny>(
  value: Value,
): z.ZodType<Record<string, z.output<Value>>> {
  return z.custom<Record<string, z.output<Value>>>(
    (input) =>
      typeof input === 'object' &&
      input !== null &&
      !Array.isArray(input) &&
      Object.values(input).every((member) => value.safeParse(member).success),
    { message: 'is not an object with such values' },
  );
}

export const recordStatus = z.enum(['published', 'deleted', 'archived']);

const metadata: Column<MetadataDto, MetadataDto> = json(
  textKeyed(z.union([z.string(), z.number(), z.boolean()])),
);

/** The version of a record, which every change raises by one; If-Match compares it. */
export function raisedByChange<C extends Column>(
  column: C,
): C & { readonly isRaisedByChange: true } {
  return { ...column, isRaisedByChange: true };
}

/** The version of a record that only the ETag shows: 1 at first. */
export const recordVersion = raisedByChange(hidden(withDefault(integer)));

/** What every record has (specification, Conventions). */
export const recordColumns = {
  id: text,
  tenant_id: text,
  environment_id: text,
  status: plainColumn(recordStatus, 'string'),
  metadata,
  created_at: instant,
  created_by: nullable(text),
  updated_at: instant,
  updated_by: nullable(text),
} satisfies Columns;

import { plain, type Decimal } from '../../../contract/number/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';
import {
  decimal,
  instant,
  integer,
  json,
  nullable,
  oneOf,
  text,
  type Column,
  type Columns,
  type ValueOf,
} from '../columns.js';
import type { MemberReader } from '../member-rules.js';
import type { Currency, DateTime, DecimalText, MetadataDto } from '../record-dto.js';
import type { z } from 'zod';

/** What the OpenAPI document says of a member and the edge checks, as tags of its interface. */
type Limits = {
  readonly isInt?: true;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly default?: string;
};

/** A type of the wire as interfaces spell it. */
export type WireType<Type = unknown> = {
  readonly name: string;
  /** The file of billing-api that exports the name, for a type that is not TypeScript's own. */
  readonly from?: string;
  /** Has no value: it only tells the compiler which type has the name. */
  readonly spells?: Type;
};

/** How requests give the values of a column. */
type Wire<Value, Given> = {
  readonly type: WireType;
  /** The type in answers, where it is another one. */
  readonly answerType?: WireType;
  readonly limits: Limits;
  /** What is stored; null after a problem was noted. */
  read(reader: MemberReader, member: string, given: Given): Value | null;
};

/** A column that requests and answers name, by its type on the wire and its rule. */
export type WireColumn<Value, Answer, Given> = Column<Value, Answer> & {
  readonly wire: Wire<Value, Given>;
};

/** What the document says beside the limits, where a member needs words. */
type Notes = { readonly answer?: string; readonly create?: string; readonly change?: string };

type AnyWireColumn = Column & { readonly wire: Wire<unknown, unknown> };
type Named = { readonly notes: Notes };
/** A column that a request to create or to change may give. */
export type GivenColumn = AnyWireColumn & (Required | Optional);

/** A member that every request to create must give. */
export type Required = Named & { readonly atCreation: 'required' };
/** A member that a request to create may leave out. */
export type Optional = Named & { readonly atCreation: 'optional'; readonly absent: unknown };
/** An optional member that `fill` gives where a request does not. */
export type Derived = { readonly isDerived: true };
/** A member that a request to change may give. */
export type Changeable = { readonly isChangeable: true };
/** A member that a change clears with null. */
export type Clearable = { readonly isClearable: true };

const RECORD_DTO = 'records/record-dto.js';

/** A text that has more than blanks in it; those around it are taken away. */
export function nameText({ max }: { readonly max: number }): WireColumn<string, string, string> {
  const limits = { minLength: 1, maxLength: max };
  const read = (reader: MemberReader, member: string, given: string) => reader.line(member, given);
  return { ...text, wire: { type: { name: 'string' }, limits, read } };
}

/** A text that is stored as it is given. */
export function plainText(
  limits: Pick<Limits, 'minLength' | 'maxLength' | 'pattern'>,
): WireColumn<string, string, string> {
  return { ...text, wire: { type: { name: 'string' }, limits, read: (_, __, given) => given } };
}

/** A number that is stored with all of its digits. */
function numeric(
  read: (reader: MemberReader, member: string, given: DecimalText) => Decimal | null,
): WireColumn<string, DecimalText, DecimalText> {
  const type = { name: 'DecimalText', from: RECORD_DTO };
  const readText = (reader: MemberReader, member: string, given: DecimalText) => {
    const value = read(reader, member, given);
    return value === null ? null : plain(value);
  };
  return { ...decimal, wire: { type, limits: {}, read: readText } };
}

/** A number greater than 0. */
export const positiveDecimal = numeric((reader, member, given) => reader.positive(member, given));

/** A number of 0 or more. */
export const unsignedDecimal = numeric((reader, member, given) => {
  const value = reader.decimal(member, given);
  if (value?.isNegative() === true) reader.note(member, 'must be 0 or more');
  return value;
});

/** A whole number of at most 32 bits. */
export function wholeNumber(
  limits: Pick<Limits, 'minimum' | 'maximum'>,
): WireColumn<number, number, number> {
  const type = { name: 'number' };
  const read = (_: MemberReader, __: string, given: number) => given;
  return { ...integer, wire: { type, limits: { isInt: true, ...limits }, read } };
}

export const dateTime: WireColumn<InstantMs, DateTime, DateTime> = {
  ...instant,
  wire: {
    type: { name: 'DateTime', from: RECORD_DTO },
    limits: {},
    read: (reader, member, given) => reader.instant(member, given),
  },
};

/** Three letters, stored in lower case. */
export const currencyCode: WireColumn<string, Currency, Currency> = {
  ...text,
  wire: {
    type: { name: 'Currency', from: RECORD_DTO },
    limits: {},
    read: (reader, member, given) => reader.currency(member, given),
  },
};

/** One of these texts; the document names their type, where it has a name. */
export function choice<const Texts extends readonly [string, ...string[]]>(
  texts: Texts,
  type: WireType<Texts[number]> = { name: texts.map((each) => `'${each}'`).join(' | ') },
): WireColumn<Texts[number], Texts[number], Texts[number]> {
  const read = (_: MemberReader, __: string, given: Texts[number]) => given;
  return { ...oneOf(texts), wire: { type, limits: {}, read } };
}

/** An object of this shape, which the edge has checked, stored as it is given. */
export function object<Value>(
  schema: z.ZodType<Value, z.ZodTypeDef, unknown>,
  type: WireType,
): WireColumn<Value, Value, Value> {
  return { ...json(schema), wire: { type, limits: {}, read: (_, __, given) => given } };
}

/** The column with answers that spell its type otherwise. */
export function answeredAs<C extends AnyWireColumn>(column: C, answerType: WireType): C {
  return { ...column, wire: { ...column.wire, answerType } };
}

/** A member that every request to create gives. */
export function required<C extends AnyWireColumn>(column: C, notes: Notes = {}): C & Required {
  return { ...column, notes, atCreation: 'required' };
}

/** A member that requests to create may leave out: it is null then, and a change may clear it. */
export function optional<Value, Answer, Given>(
  { wire, ...column }: WireColumn<Value, Answer, Given>,
  notes: Notes = {},
): WireColumn<Value | null, Answer | null, Given> & Optional & Clearable {
  const marks = { notes, atCreation: 'optional', absent: null, isClearable: true } as const;
  return { ...nullable(column), wire, ...marks };
}

/** A member that requests to create may leave out: it has this value then. */
export function optionalWith<Value, Answer, Given>(
  column: WireColumn<Value, Answer, Given>,
  value: Value & string,
  notes: Notes = {},
): WireColumn<Value, Answer, Given> & Optional {
  const { limits } = column.wire;
  const wire = { ...column.wire, limits: { ...limits, default: JSON.stringify(value) } };
  return { ...column, wire, notes, atCreation: 'optional', absent: value };
}

/** A member that requests to create may leave out: `fill` gives it then, from the others. */
export function derived<Value, Answer, Given>(
  column: WireColumn<Value, Answer, Given>,
  notes: Notes = {},
): WireColumn<Value, Answer, Given> & Optional & Derived {
  return { ...column, notes, atCreation: 'optional', absent: null, isDerived: true };
}

/** An optional member that changes replace and never clear. */
export function lasting<C extends Column & Clearable>(
  column: C,
): Omit<C, 'isClearable'> & { readonly isClearable: false } {
  return { ...column, isClearable: false };
}

/** A member that no request to create gives: its column has a DEFAULT, or a rule fills it. */
export function answered<C extends AnyWireColumn>(column: C, notes: Notes = {}): C & Named {
  return { ...column, notes };
}

/** A member that requests to change may give. */
export function changeable<C extends Column & Named>(column: C): C & Changeable {
  return { ...column, isChangeable: true };
}

type NamesOf<C extends Columns, Mark> = {
  [Name in keyof C & string]: C[Name] extends Mark ? Name : never;
}[keyof C & string];

type GivenOf<C> = C extends { readonly wire: { read: (...from: infer From) => unknown } }
  ? From extends [unknown, unknown, infer Given]
    ? Given
    : never
  : never;

/** The names of the columns that a request to create gives, and of those that it may leave out. */
export type RequiredNames<C extends Columns> = NamesOf<C, Required>;
export type OptionalNames<C extends Columns> = NamesOf<C, Optional>;
export type DerivedNames<C extends Columns> = NamesOf<C, Derived>;
export type ChangeableNames<C extends Columns> = NamesOf<C, Changeable>;

/** The body of a request to create. */
export type CreateBodyOf<C extends Columns> = {
  [Name in RequiredNames<C>]: GivenOf<C[Name]>;
} & {
  [Name in OptionalNames<C>]?: GivenOf<C[Name]>;
} & { metadata?: MetadataDto };

/** The body of a request to change: members that are absent stay as they are. */
export type ChangeBodyOf<C extends Columns> = {
  [Name in ChangeableNames<C>]?: GivenOf<C[Name]> | (C[Name] extends Clearable ? null : never);
} & { metadata?: MetadataDto | null };

/** What was read of a request to create: null for a member that is absent or bad. */
export type ReadValues<C extends Columns> = {
  readonly [Name in RequiredNames<C> | OptionalNames<C>]: ValueOf<C[Name]> | null;
};

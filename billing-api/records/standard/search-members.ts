import { hasText, isEqual, isOneOfAsked, type Conditions } from '../conditions.js';
import type { WireType } from './members.js';

/** A member of a search body, and the condition that it puts on a column. */
export type SearchMember<Name extends string, Given> = {
  readonly type: WireType;
  readonly maxItems?: number;
  readonly note?: string;
  conditions(given: Given | undefined): Conditions<Name>;
};

/** The members of a search body beside those that every search takes. */
export type SearchMembers<Name extends string> = Readonly<
  Record<string, SearchMember<Name, unknown>>
>;

const LIST_MAX = 1000;

/** Records whose column has one of these texts. */
export function oneOfTexts<const Name extends string>(column: Name): SearchMember<Name, string[]> {
  const type = { name: 'string[]' };
  return { type, maxItems: LIST_MAX, conditions: (texts) => isOneOfAsked(column, texts) };
}

/** Records whose column has this text. */
export function equalText<const Name extends string>(column: Name): SearchMember<Name, string> {
  return { type: { name: 'string' }, conditions: (text) => isEqual(column, text) };
}

/** Records whose column has this text, one of a type. */
export function equalChoice<const Name extends string, Text extends string>(
  column: Name,
  type: WireType<Text>,
): SearchMember<Name, Text> {
  return { type, conditions: (text) => isEqual(column, text) };
}

/** Records whose column contains this text. */
export function containedText<const Name extends string>(column: Name): SearchMember<Name, string> {
  const note = 'Upper and lower case are the same.';
  return { type: { name: 'string' }, note, conditions: (text) => hasText(column, text) };
}

type GivenOf<Member> = Member extends { conditions(given: infer Given): unknown }
  ? Exclude<Given, undefined>
  : never;

/** The members that a search body has by these. */
export type SearchBodyOf<S extends SearchMembers<string>> = {
  -readonly [Name in keyof S]?: GivenOf<S[Name]>;
};

/** The conditions of the members that are given. */
export function searchConditions<Name extends string>(
  members: SearchMembers<Name>,
  body: Readonly<Record<string, unknown>>,
): Conditions<Name> {
  return Object.entries(members).flatMap(([name, member]) => member.conditions(body[name]));
}

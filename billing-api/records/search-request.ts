import { formatInstant, type InstantMs } from '../../contract/instant.js';
import { endProblem, INSTANT_PROBLEM, readInstant } from './member-rules.js';
import type { FilterDto } from './record-dto.js';
import { invalid, isRefusal, type Refusal } from './refusal.js';

/** How the scalar members of a resource compare. */
export type MemberType = 'string' | 'number' | 'boolean' | 'date';
export type MemberTypes = Readonly<Record<string, MemberType>>;

export type FilterOperator = NonNullable<FilterDto['operator']>;
export type DataType = MemberType | 'array';

/** A filter as it comes in a request body; absent and null value members mean the same. */
export type FilterRequest = {
  readonly field: string;
  readonly operator?: FilterOperator | undefined;
  readonly data_type?: DataType | undefined;
  readonly value: Readonly<Partial<Record<DataType, unknown>>>;
};
export type SortRequest = {
  readonly field: string;
  readonly direction?: 'asc' | 'desc' | undefined;
};

/** What a member is compared with; numbers as plain or exponent text, exactly as JSON gave them. */
export type Operand =
  | { readonly type: 'string'; readonly text: string }
  | { readonly type: 'number'; readonly text: string }
  | { readonly type: 'boolean'; readonly flag: boolean }
  | { readonly type: 'date'; readonly instantMs: InstantMs }
  | { readonly type: 'array'; readonly texts: readonly string[] };

/** Either a scalar member of the resource or one key of its metadata. */
export type FilterField =
  | { readonly kind: 'member'; readonly name: string; readonly type: MemberType }
  | { readonly kind: 'metadata'; readonly key: string };

export type Condition = {
  readonly field: FilterField;
  readonly operator: FilterOperator;
  readonly operand: Operand;
};

const DATA_TYPES: readonly DataType[] = ['string', 'number', 'boolean', 'date', 'array'];

/** Legal pairs (docs/http.md 1.6). */
const OPERATORS: Readonly<Record<DataType, readonly FilterOperator[]>> = {
  string: ['eq', 'neq', 'contains', 'not_contains'],
  number: ['eq', 'neq', 'gt', 'gte', 'lt', 'lte'],
  boolean: ['eq', 'neq'],
  date: ['eq', 'before', 'after', 'gt', 'gte', 'lt', 'lte'],
  array: ['in', 'not_in'],
};

const ARRAY_LENGTH_MAX = 1000;
const METADATA_PREFIX = 'metadata.';
const NUMBER_TEXT = /^-?\d{1,400}(\.\d{1,400})?$/;

const namesOf = (members: MemberTypes): string => Object.keys(members).join(', ');

/** What to call a value of each type, and the member of `value` that takes it. */
const CALLED: Readonly<Record<MemberType, string>> = {
  string: 'a text: give value.string',
  number: 'a number: give value.number',
  boolean: 'true or false: give value.boolean',
  date: 'a date: give value.date',
};

function fieldOf(name: string, members: MemberTypes): FilterField | string {
  if (name.startsWith(METADATA_PREFIX) && name.length > METADATA_PREFIX.length) {
    return { kind: 'metadata', key: name.slice(METADATA_PREFIX.length) };
  }
  const type = Object.hasOwn(members, name) ? members[name] : undefined;
  return type === undefined
    ? `cannot filter by ${name.slice(0, 100)}; name one of ${namesOf(members)}, or metadata.<key>`
    : { kind: 'member', name, type };
}

/**
 * The one value member that counts: the one of the given data type, else the only one that is not
 * null.
 */
function typeOfValue(filter: FilterRequest): DataType | null {
  const given = DATA_TYPES.filter((type) => (filter.value[type] ?? null) !== null);
  const wanted = given.filter((type) => type === (filter.data_type ?? type));
  return wanted.length === 1 ? (wanted[0] ?? null) : null;
}

function arrayOperand(value: unknown): Operand | string {
  if (!Array.isArray(value)) return 'value.array must be a list of texts';
  const items: readonly unknown[] = value;
  const texts = items.filter((item) => typeof item === 'string');
  if (texts.length < items.length) return 'value.array must be a list of texts';
  return texts.length <= ARRAY_LENGTH_MAX
    ? { type: 'array', texts }
    : `value.array must have at most ${ARRAY_LENGTH_MAX} elements`;
}

/** An instant, or a date without a time: its start in UTC. */
function readDate(text: string): InstantMs | null {
  return readInstant(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text);
}

function dateOperand(value: unknown): Operand | string {
  const instantMs = typeof value === 'string' ? readDate(value) : null;
  return instantMs === null
    ? `value.date ${INSTANT_PROBLEM}, or a date such as 2026-01-31`
    : { type: 'date', instantMs };
}

const OPERANDS: Readonly<Record<DataType, (value: unknown) => Operand | string>> = {
  string: (value) =>
    typeof value === 'string' ? { type: 'string', text: value } : 'value.string must be a text',
  number: (value) =>
    typeof value === 'number' && Number.isFinite(value)
      ? { type: 'number', text: String(value) }
      : 'value.number must be a number',
  boolean: (value) =>
    typeof value === 'boolean'
      ? { type: 'boolean', flag: value }
      : 'value.boolean must be true or false',
  date: dateOperand,
  array: arrayOperand,
};

/** Why a text of an array cannot be an element of a member of this type; null when it can. */
function arrayProblem(type: MemberType, texts: readonly string[]): string | null {
  const fits = {
    string: () => true,
    number: (text: string) => NUMBER_TEXT.test(text),
    boolean: (text: string) => text === 'true' || text === 'false',
    date: (text: string) => readDate(text) !== null,
  }[type];
  const misfit = texts.find((text) => !fits(text));
  return misfit === undefined ? null : `${misfit.slice(0, 60)} is not a ${type}`;
}

function pairProblem(field: FilterField, operand: Operand): string | null {
  if (field.kind === 'metadata') {
    return operand.type === 'date'
      ? 'metadata values cannot be compared as dates; use string'
      : null;
  }
  if (operand.type === 'array') return arrayProblem(field.type, operand.texts);
  return operand.type === field.type ? null : `${field.name} is ${CALLED[field.type]}`;
}

/**
 * Dates of an array in the one form that PostgreSQL reads as we do: it takes no offset beyond 15:59
 * and no decimal comma.
 */
function withPlainDates(field: FilterField, operand: Operand): Operand {
  if (operand.type !== 'array' || field.kind !== 'member' || field.type !== 'date') return operand;
  const instants = operand.texts.flatMap((text) => readDate(text) ?? []);
  return { type: 'array', texts: instants.map(formatInstant) };
}

function conditionOf(filter: FilterRequest, members: MemberTypes): Condition | string {
  const field = fieldOf(filter.field, members);
  if (typeof field === 'string') return field;
  const type = typeOfValue(filter);
  if (type === null)
    return `value must have exactly one of ${DATA_TYPES.join(', ')}; with data_type, the one that it names`;
  const operand = OPERANDS[type](filter.value[type]);
  if (typeof operand === 'string') return operand;
  const operator = filter.operator ?? (operand.type === 'array' ? 'in' : 'eq');
  if (!OPERATORS[operand.type].includes(operator)) {
    return `${operator} cannot be used with ${operand.type}; use ${OPERATORS[operand.type].join(', ')}`;
  }
  const problem = pairProblem(field, operand);
  return problem ?? { field, operator, operand: withPlainDates(field, operand) };
}

/** Whether it restricts nothing: an empty list is no filter, as in the members of a search. */
function isEmptyList({ operand }: Condition): boolean {
  return operand.type === 'array' && operand.texts.length === 0;
}

/** The filters of a search body, joined by AND; a refusal names the first bad one. */
export function readFilters(
  filters: readonly FilterRequest[],
  members: MemberTypes,
): readonly Condition[] | Refusal {
  const conditions: Condition[] = [];
  for (const [index, filter] of filters.entries()) {
    const condition = conditionOf(filter, members);
    if (typeof condition === 'string') return invalid({ [`filters.${index}`]: condition });
    if (!isEmptyList(condition)) conditions.push(condition);
  }
  return conditions;
}

/** One sort key: a scalar member of the resource. */
export type SortKey = { readonly name: string; readonly direction: 'asc' | 'desc' };

/**
 * The sort of a search body; newest first when it names nothing. `order` is the direction of keys
 * that have none.
 */
export function readSort(
  sort: readonly SortRequest[],
  members: MemberTypes,
  order: 'asc' | 'desc' = 'desc',
): readonly SortKey[] | Refusal {
  const unknown = sort.findIndex((key) => !Object.hasOwn(members, key.field));
  if (unknown >= 0) {
    const name = sort[unknown]?.field.slice(0, 100) ?? '';
    return invalid({
      [`sort.${unknown}`]: `cannot sort by ${name}; name one of ${namesOf(members)}`,
    });
  }
  if (sort.length === 0) return [{ name: 'created_at', direction: order }];
  return sort.map((key) => ({ name: key.field, direction: key.direction ?? order }));
}

/** The common search body (docs/http.md 1.6) as it came, its types already checked. */
export type SearchBodyRequest = {
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  readonly status?: 'published' | 'deleted' | 'archived' | undefined;
  readonly filters?: readonly FilterRequest[] | undefined;
  readonly sort?: readonly SortRequest[] | undefined;
  readonly order?: 'asc' | 'desc' | undefined;
  readonly start_time?: string | undefined;
  readonly end_time?: string | undefined;
  readonly expand?: string | undefined;
};

export type SearchCommand<Expandable extends string = string> = {
  readonly limit: number;
  readonly offset: number;
  readonly status: 'published' | 'deleted' | 'archived';
  readonly conditions: readonly Condition[];
  readonly sort: readonly SortKey[];
  /** On created_at, half-open. */
  readonly createdFromMs: InstantMs | null;
  readonly createdBeforeMs: InstantMs | null;
  readonly expand: ReadonlySet<Expandable>;
};

/** What a resource lets a search name. */
export type SearchableMembers<Expandable extends string> = {
  readonly members: MemberTypes;
  readonly expandable: readonly Expandable[];
};

function isExpandable<Expandable extends string>(
  name: string,
  names: readonly Expandable[],
): name is Expandable {
  return names.some((known) => known === name);
}

/** Where nothing can be expanded, whatever is named has no effect (docs/http.md 18). */
function readExpand<Expandable extends string>(
  text: string,
  names: readonly Expandable[],
): ReadonlySet<Expandable> | Refusal {
  const expand = new Set<Expandable>();
  for (const name of text.split(',').map((part) => part.trim())) {
    if (name === '') continue;
    if (!isExpandable(name, names)) {
      if (names.length === 0) continue;
      const known = names.join(', ');
      return invalid({ expand: `cannot expand ${name.slice(0, 60)}; name one of ${known}` });
    }
    expand.add(name);
  }
  return expand;
}

/** The start_time and end_time of a search. */
export function readTimeRange(
  body: Pick<SearchBodyRequest, 'start_time' | 'end_time'>,
): { readonly from: InstantMs | null; readonly before: InstantMs | null } | Refusal {
  const from = body.start_time === undefined ? null : readInstant(body.start_time);
  const before = body.end_time === undefined ? null : readInstant(body.end_time);
  if (body.start_time !== undefined && from === null)
    return invalid({ start_time: INSTANT_PROBLEM });
  if (body.end_time !== undefined && before === null) return invalid({ end_time: INSTANT_PROBLEM });
  const problem = endProblem('start_time', from, before);
  return problem === null ? { from, before } : invalid({ end_time: problem });
}

function pageOf(body: SearchBodyRequest): Pick<SearchCommand, 'limit' | 'offset' | 'status'> {
  const { limit = 50, offset = 0, status = 'published' } = body;
  return { limit, offset, status };
}

/** Reads a common search body for a resource. */
export function readSearch<Expandable extends string>(
  body: SearchBodyRequest,
  resource: SearchableMembers<Expandable>,
): SearchCommand<Expandable> | Refusal {
  const conditions = readFilters(body.filters ?? [], resource.members);
  if (isRefusal(conditions)) return conditions;
  const sort = readSort(body.sort ?? [], resource.members, body.order);
  if (isRefusal(sort)) return sort;
  const range = readTimeRange(body);
  if (isRefusal(range)) return range;
  const expand = readExpand(body.expand ?? '', resource.expandable);
  if (isRefusal(expand)) return expand;
  const created = { createdFromMs: range.from, createdBeforeMs: range.before };
  return { ...pageOf(body), conditions, sort, expand, ...created };
}

import { HOSTILE_DATES } from '../../harness/hostile-values.js';
import type { SeededRandom } from '../../harness/seeded-random.js';
import { isJson, listOf, type FuzzedDocument, type Json } from './document.js';
import type { KnownNames } from './known-names.js';

/** What values of requests are drawn from. */
export type Drawing = {
  readonly random: SeededRandom;
  readonly resolve: FuzzedDocument['resolve'];
  /** Of the environment that asks, and of those whose records it must not see. */
  readonly own: KnownNames;
  readonly foreign: KnownNames;
  /** Keys are mostly new ones then, since each can be stored only once. */
  readonly isWrite: boolean;
};

const OWN_KEYS = new Set(['lookup_key', 'external_id', 'code', 'email']);

const TEXTS_OF_MEMBER = new Map<string, readonly string[]>(
  Object.entries({
    currency: ['usd', 'usd', 'usd', 'EUR', 'xyz'],
    base_currency: ['usd', 'eur'],
    timezone: ['UTC', 'Europe/Berlin', 'America/St_Johns', 'Asia/Kathmandu'],
    customer_timezone: ['UTC', 'Pacific/Chatham'],
    address_country: ['DE', 'us', 'XX'],
    event_name: ['call', 'call', 'other'],
    field: ['id', 'name', 'created_at', 'status', 'metadata.a', 'amount', 'usage_limit', 'bytes'],
    expression: ['bytes * 2', 'a / b', '('],
    expand: ['', 'prices', 'meter', 'feature,plan', 'nothing'],
    group_by: ['source', 'feature_id', 'properties.region', 'region', 'customer_id'],
    property_name: ['bytes', 'region'],
    sort: ['created_at', 'name', 'nothing'],
  }),
);

/** Values of settings: the first fits every one, the others one or two each. */
const SETTING_VALUES = [
  {},
  {},
  { enabled: true },
  { prefix: 'ACME', due_date_days: 14, separator: '/' },
  { grace_period_days: 5 },
  { slabs: [{ threshold: '100', type: 'percentage', value: '10' }] },
  { users: 10_000, development_environments: 100 },
];

const DATES = [
  '2026-01-01T00:00:00Z',
  '2026-01-15T12:30:00.123Z',
  '2026-02-01T00:00:00Z',
  '2026-03-01T00:00:00+01:00',
  '2027-01-01T00:00:00Z',
];
const DECIMALS = ['0', '1', '0.25', '49.99', '0.000000000000000001', '1000000000000', '-1'];
const DEPTH_MAX = 7;

/** A name of a record or of a caller's own; null when the member names nothing that is known. */
function drawName(drawing: Drawing, member: string): string | null {
  const { random, own, foreign } = drawing;
  const names = random.chance(0.1) ? foreign : own;
  const name = names.draw(random, member);
  const isNewKey = drawing.isWrite && OWN_KEYS.has(member);
  return random.chance(isNewKey ? 0.05 : 0.9) ? name : null;
}

function drawText(drawing: Drawing, schema: Json, member: string): string {
  const { random } = drawing;
  const name = drawName(drawing, member);
  if (name !== null) return name;
  if (schema['format'] === 'date-time') {
    return random.pick(random.chance(0.9) ? DATES : HOSTILE_DATES);
  }
  if (typeof schema['pattern'] === 'string' && schema['pattern'].includes('\\d')) {
    return random.pick(DECIMALS);
  }
  const texts = TEXTS_OF_MEMBER.get(member);
  if (texts !== undefined) return random.pick(texts);
  if (member === 'email') return `t${random.below(1_000_000)}@example.com`;
  return `T_${random.below(1_000_000)}`.slice(0, Number(schema['maxLength'] ?? 20));
}

function drawNumber({ random }: Drawing, schema: Json): number {
  const least = Number(schema['minimum'] ?? -1_000);
  const most = Number(schema['maximum'] ?? 1_000_000);
  const near = Math.min(most, Math.max(least, 0) + random.below(100));
  const drawn = random.pick([least, most, near, near, near, near]);
  return schema['type'] === 'integer' || random.chance(0.5) ? drawn : drawn / 8;
}

function drawList(drawing: Drawing, schema: Json, place: Place): readonly unknown[] {
  const least = Number(schema['minItems'] ?? 0);
  const most = Math.min(Number(schema['maxItems'] ?? 3), least + 3);
  const count = drawing.random.between(least, most);
  return Array.from({ length: count }, () => drawValue(drawing, schema['items'], place));
}

function drawObject(drawing: Drawing, schema: Json, { member, depth }: Place): Json {
  const { random } = drawing;
  const required = listOf(schema['required']);
  const members = Object.entries(isJson(schema['properties']) ? schema['properties'] : {});
  // A few of the optional members, so that many bodies are right.
  const share = random.pick([0, 0, 0.05, 0.1, 0.3, 1]);
  const taken = members.filter(([name]) => required.includes(name) || random.chance(share));
  const others = schema['additionalProperties'];
  if (member === 'value' && members.length === 0 && random.chance(0.8)) {
    return random.pick(SETTING_VALUES);
  }
  const keys = isJson(others) ? ['a', 'region', '__proto__'].slice(0, random.below(4)) : [];
  return Object.fromEntries([
    ...taken.map(([name, each]) => {
      const place = { member: name, depth: depth + 1 };
      return [name, drawValue(drawing, each, place)] as const;
    }),
    ...keys.map((key) => {
      const place = { member: key, depth: depth + 1 };
      return [key, drawValue(drawing, others, place)] as const;
    }),
  ]);
}

/** An example of the document with names of ours, and now and then another member. */
function drawFromExample(drawing: Drawing, schema: Json, place: Place): unknown {
  const withNames = (value: unknown, member: string): unknown => {
    if (Array.isArray(value)) return value.map((each) => withNames(each, member));
    if (!isJson(value)) {
      const isName = typeof value === 'string' && /_01|@|^[a-z]+[-_]/.test(value);
      return isName ? drawText(drawing, { type: 'string' }, member) : value;
    }
    const members = Object.entries(value).map(([name, each]) => [name, withNames(each, name)]);
    return Object.fromEntries(members) as Json;
  };
  const example = withNames(schema['example'], place.member);
  if (!isJson(example) || drawing.random.chance(0.6)) return example;
  const added = Object.entries(drawObject(drawing, { ...schema, required: [] }, place));
  const one = added.length === 0 ? [] : [drawing.random.pick(added)];
  return { ...example, ...Object.fromEntries(one) };
}

type Place = { readonly member: string; readonly depth: number };

function drawOfType(drawing: Drawing, schema: Json, place: Place): unknown {
  switch (schema['type']) {
    case 'boolean':
      return drawing.random.chance(0.5);
    case 'integer':
    case 'number':
      return drawNumber(drawing, schema);
    case 'array':
      return drawList(drawing, schema, place);
    case 'object':
      return drawObject(drawing, schema, place);
    default:
      return drawText(drawing, schema, place.member);
  }
}

/** A value that keeps a schema, as far as the schema says what is right. */
export function drawValue(drawing: Drawing, given: unknown, place: Place): unknown {
  const { random, resolve } = drawing;
  const schema = resolve(given);
  if (place.depth > DEPTH_MAX) return null;
  if (schema['nullable'] === true && random.chance(0.1)) return null;
  if (isJson(schema['example']) && random.chance(0.5)) {
    return drawFromExample(drawing, schema, place);
  }
  const texts = listOf(schema['enum']);
  if (texts.length > 0) return random.pick(texts);
  const choices = [...listOf(schema['anyOf']), ...listOf(schema['oneOf'])];
  if (choices.length > 0) return drawValue(drawing, random.pick(choices), place);
  const parts = listOf(schema['allOf']);
  if (parts.length === 0) return drawOfType(drawing, schema, place);
  const drawn = parts.map((part) => drawValue(drawing, part, place));
  return drawn.every(isJson) ? Object.assign({}, ...drawn) : drawn[0];
}

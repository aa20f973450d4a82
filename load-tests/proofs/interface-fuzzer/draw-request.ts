import { HOSTILE_TEXTS } from '../../harness/hostile-values.js';
import { bodyText, breakValue } from './break-value.js';
import type { FuzzedOperation } from './document.js';
import { drawValue, type Drawing } from './draw-value.js';

/** A request as it is sent. */
export type FuzzedRequest = {
  readonly operation: FuzzedOperation;
  /** Below `/v1`, without the query. */
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
};

/** Texts that a path or a header can carry. */
const SHORT_TEXTS = HOSTILE_TEXTS.filter(
  (text) => text.length > 0 && text.length < 300 && !/\p{Surrogate}/u.test(text),
);
const HEADER_TEXTS = SHORT_TEXTS.filter((text) => /^[\x21-\x7e]+$/.test(text));

function textOf(drawing: Drawing, schema: unknown, member: string): string {
  const { random } = drawing;
  if (random.chance(0.15)) return random.pick(SHORT_TEXTS);
  const value = drawValue(drawing, schema, { member, depth: 0 });
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text;
}

function drawPath(drawing: Drawing, { path }: FuzzedOperation): string {
  return path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
    const member = path.includes(`/{${name}}`) && name === 'id' ? idMemberOf(path) : name;
    const text = textOf(drawing, { type: 'string' }, member);
    // Dots alone, or nothing, would name another path.
    return /^\.*$/.test(text) ? 'x' : encodeURIComponent(text);
  });
}

const ID_MEMBERS: Readonly<Record<string, string>> = {
  addons: 'addon_id',
  coupons: 'coupon_id',
  creditgrants: 'credit_grant_id',
  groups: 'group_id',
  rates: 'tax_rate_id',
  'coupons/associations': 'coupon_association_id',
  'taxes/associations': 'tax_association_id',
  'alerts/setting': 'alert_setting_id',
  customers: 'customer_id',
  entitlements: 'parent_entitlement_id',
  features: 'feature_id',
  meters: 'meter_id',
  plans: 'plan_id',
  prices: 'price_id',
  units: 'price_unit_id',
  users: 'user_id',
  environments: 'environment_id',
  tenants: 'tenant_id',
  'rbac/roles': 'role_id',
  'api/keys': 'secret_id',
  subscriptions: 'subscription_id',
};

/** The member that names what stands at `{id}` of a path. */
function idMemberOf(path: string): string {
  const [, above = '', folder = ''] = /(?:(\w+)\/)?(\w+)\/\{id\}/.exec(path) ?? [];
  return ID_MEMBERS[`${above}/${folder}`] ?? ID_MEMBERS[folder] ?? 'id';
}

function drawQuery(drawing: Drawing, { parameters }: FuzzedOperation): string {
  const { random } = drawing;
  const query = new URLSearchParams();
  for (const { name, in: place, isRequired, schema } of parameters) {
    if (place !== 'query' || !(isRequired || random.chance(0.3))) continue;
    query.append(name, textOf(drawing, schema, name));
    if (random.chance(0.03)) query.append(name, textOf(drawing, schema, name));
  }
  if (random.chance(0.03)) query.append(random.pick(['extra', '__proto__', 'a[b]']), '1');
  return query.toString();
}

function drawHeaders({ random, own }: Drawing): Record<string, string> {
  const headers: Record<string, string> = {};
  const add = (name: string, probability: number, texts: readonly string[]): void => {
    if (random.chance(probability)) headers[name] = random.pick(texts);
  };
  add('idempotency-key', 0.1, ['key-1', 'key-2', 'key-3', ...HEADER_TEXTS]);
  add('if-match', 0.1, ['"1"', '*', 'W/"1"', '1', '""', '"99999999999999999999"', ...HEADER_TEXTS]);
  add('x-request-id', 0.05, HEADER_TEXTS);
  add('content-type', 0.03, ['text/plain', 'application/json; charset=utf-16', 'x', '/']);
  add('content-encoding', 0.02, ['gzip', 'br', 'identity']);
  add('x-api-key', 0.02, ['', 'sk_', `sk_${'x'.repeat(40)}`]);
  // Another caller of the same environment, who may do less.
  const key = random.chance(0.03) ? own.draw(random, 'api_key') : null;
  if (key !== null) headers['x-api-key'] = key;
  return headers;
}

/** A request to an operation: right in most of its parts, or broken on purpose. */
export function drawRequest(drawing: Drawing, operation: FuzzedOperation): FuzzedRequest {
  const { random } = drawing;
  const drawn =
    operation.body === null ? null : drawValue(drawing, operation.body, { member: '', depth: 0 });
  const isBroken = random.chance(0.5);
  const value = drawn !== null && isBroken ? breakValue(random, drawn) : drawn;
  return {
    operation,
    path: drawPath(drawing, operation),
    query: drawQuery(drawing, operation),
    headers: drawHeaders(drawing),
    body: value === null ? null : bodyText(random, value, isBroken && random.chance(0.1)),
  };
}

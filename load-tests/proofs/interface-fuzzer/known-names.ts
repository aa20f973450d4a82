import type { SeededRandom } from '../../harness/seeded-random.js';

/** Kinds of records, by the beginning of their ids. */
const KINDS = [
  'plan',
  'price',
  'meter',
  'feat',
  'cust',
  'subs',
  'ent',
  'price_unit',
  'subs_line',
  'group',
  'addon',
  'cg',
  'coupon',
  'coupon_assoc',
  'taxrate',
  'ta',
  'user',
  'secret',
  'env',
  'tenant',
  'alert_set',
];

/** What members name: records, or keys that callers choose. */
const KINDS_OF_MEMBER = new Map<string, readonly string[]>(
  Object.entries({
    id: KINDS,
    plan_id: ['plan'],
    meter_id: ['meter'],
    feature_id: ['feat'],
    price_id: ['price'],
    price_unit_id: ['price_unit'],
    parent_price_id: ['price'],
    customer_id: ['cust'],
    invoicing_customer_id: ['cust'],
    subscription_id: ['subs'],
    parent_subscription_id: ['subs'],
    parent_entitlement_id: ['ent'],
    addon_id: ['addon'],
    credit_grant_id: ['cg'],
    coupon_id: ['coupon'],
    coupon_association_id: ['coupon_assoc'],
    tax_rate_id: ['taxrate'],
    tax_association_id: ['ta'],
    alert_setting_id: ['alert_set'],
    group_id: ['group'],
    entity_id: ['plan', 'subs', 'addon', 'cust', 'subs_line', 'group'],
    coupon_code: ['coupon code'],
    tax_rate_code: ['tax rate code'],
    price_unit: ['unit code'],
    code: ['coupon code', 'unit code'],
    external_customer_id: ['external'],
    external_id: ['external'],
    event_id: ['event'],
    user_id: ['user'],
    service_account_id: ['user'],
    secret_id: ['secret'],
    environment_id: ['env'],
    tenant_id: ['tenant'],
    role_id: ['role'],
    roles: ['role'],
    key: ['setting'],
    api_key: ['api key'],
    email: ['email'],
    password: ['password'],
    lookup_key: ['key'],
  }),
);

/** How often the oldest name of a kind is drawn: it was made with the others that belong to it. */
const SHARE_OF_OLDEST = 0.25;

const ID = /^([a-z]+(?:_[a-z]+)?)_[0-9A-HJKMNP-TV-Z]{26}$/;

/** Ids and keys by their kind. */
export class KnownNames {
  readonly #byKind = new Map<string, string[]>();
  readonly #oldest = new Map<string, string>();
  readonly #ignored: ReadonlySet<string>;

  /** @param ignored kinds, and single names, that are never taken */
  constructor(ignored: readonly string[] = []) {
    this.#ignored = new Set(ignored);
  }

  add(kind: string, name: string): void {
    if (this.#ignored.has(kind) || this.#ignored.has(name)) return;
    if (!this.#oldest.has(kind)) this.#oldest.set(kind, name);
    const names = this.#byKind.get(kind) ?? [];
    if (!names.includes(name)) names.push(name);
    // Recent ones, so that records are also found again after others have been archived.
    this.#byKind.set(kind, names.slice(-50));
  }

  /** Adds the id of every record in an answer. */
  addAllOf(value: unknown): void {
    if (typeof value === 'string') {
      const kind = ID.exec(value)?.[1];
      if (kind !== undefined && KINDS.includes(kind)) this.add(kind, value);
    } else if (typeof value === 'object' && value !== null) {
      for (const each of Object.values(value)) this.addAllOf(each);
    }
  }

  /** A name that a member of a request may mean; null when the member names nothing. */
  draw(random: SeededRandom, member: string): string | null {
    const kinds = KINDS_OF_MEMBER.get(member.replace(/ids$/, 'id').replace(/keys$/, 'key'));
    if (kinds === undefined) return null;
    const kind = random.pick(kinds);
    const oldest = this.#oldest.get(kind);
    if (oldest === undefined) return null;
    // So that a plan is often drawn with its own prices, and a subscription of both can be made.
    return random.chance(SHARE_OF_OLDEST)
      ? oldest
      : random.pick(this.#byKind.get(kind) ?? [oldest]);
  }

  addAll(others: KnownNames): void {
    for (const [kind, names] of others.#byKind) for (const name of names) this.add(kind, name);
  }

  get all(): readonly string[] {
    return [...this.#byKind.values()].flat();
  }
}

import type { RequestHandler } from 'express';
import { isObject } from '../../../contract/is-object.js';
import { operationIfDeclared } from '../operations.js';

/**
 * A member that clients of other systems of this kind send. Without `becomes` and `as` it is taken
 * without effect; with `becomes` it is another name of that member, which wins when both are sent;
 * with `as` a value of the other form is taken as well.
 */
export type ForeignMember = {
  /** Operations, as `POST /v1/prices`; `SEARCHES` is all `POST …/search`. */
  readonly operations: readonly string[];
  /** Where it stands in the body; `*` is every element of a list, or every value of an object. */
  readonly path: string;
  readonly becomes?: string;
  readonly as?: 'text' | 'number' | 'sort';
};

const SEARCHES = 'POST …/search';
const NEW_SUBSCRIPTION = ['POST /v1/subscriptions'];
const NEW_CUSTOMER = ['POST /v1/customers'];
const ONE_PRICE = ['POST /v1/prices'];
const PRICES = ['POST /v1/prices/bulk'];
const COMMITMENT = 'line_item_commitments.*';

/** What is taken beside the members of the document (docs/http.md 18). */
export const FOREIGN_MEMBERS: readonly ForeignMember[] = [
  { operations: [SEARCHES], path: 'sort', as: 'sort' },
  { operations: ['POST /v1/addons'], path: 'type' },
  { operations: [...NEW_CUSTOMER, 'PUT /v1/customers'], path: 'skip_onboarding_workflow' },
  {
    operations: [...NEW_CUSTOMER, ...NEW_SUBSCRIPTION],
    path: 'tax_rate_overrides.*.auto_apply',
  },
  { operations: ONE_PRICE, path: 'trial_period', becomes: 'trial_period_days' },
  { operations: PRICES, path: 'items.*.trial_period', becomes: 'trial_period_days' },
  {
    operations: NEW_SUBSCRIPTION,
    path: 'override_entitlements.*.entitlement_id',
    becomes: 'parent_entitlement_id',
  },
  { operations: NEW_SUBSCRIPTION, path: 'commitment_overage_factor', becomes: 'overage_factor' },
  { operations: NEW_SUBSCRIPTION, path: 'overage_factor', as: 'text' },
  {
    operations: NEW_SUBSCRIPTION,
    path: `${COMMITMENT}.overage_factor`,
    becomes: 'commitment_overage_factor',
  },
  {
    operations: NEW_SUBSCRIPTION,
    path: `${COMMITMENT}.enable_true_up`,
    becomes: 'commitment_true_up_enabled',
  },
  {
    operations: NEW_SUBSCRIPTION,
    path: `${COMMITMENT}.is_window_commitment`,
    becomes: 'commitment_windowed',
  },
  { operations: NEW_SUBSCRIPTION, path: `${COMMITMENT}.commitment_overage_factor`, as: 'text' },
  { operations: NEW_SUBSCRIPTION, path: `${COMMITMENT}.commitment_amount`, as: 'text' },
  { operations: NEW_SUBSCRIPTION, path: `${COMMITMENT}.commitment_quantity`, as: 'text' },
  {
    operations: NEW_SUBSCRIPTION,
    path: `${COMMITMENT}.commitment_time_buckets.*.commitment_overage_factor`,
    becomes: 'overage_factor',
  },
  {
    operations: NEW_SUBSCRIPTION,
    path: `${COMMITMENT}.commitment_time_buckets.*.overage_factor`,
    as: 'number',
  },
];

/** Numbers whose digits are those that were sent: JSON has kept them exactly. */
const EXACT_NUMBER = /^-?\d{1,15}(\.\d{1,15})?$/;

function inForm(value: unknown, form: 'text' | 'number' | 'sort'): unknown {
  if (form === 'sort') return typeof value === 'string' ? [{ field: value }] : value;
  if (form === 'number') {
    return typeof value === 'string' && EXACT_NUMBER.test(value) ? Number(value) : value;
  }
  if (typeof value !== 'number') return value;
  const text = String(value);
  return EXACT_NUMBER.test(text) ? text : value;
}

type Holder = Record<string, unknown>;

function apply(holder: Holder, name: string, { becomes, as }: ForeignMember): void {
  if (!Object.hasOwn(holder, name)) return;
  if (as !== undefined) {
    holder[name] = inForm(holder[name], as);
    return;
  }
  const value = holder[name];
  delete holder[name];
  if (becomes !== undefined && !Object.hasOwn(holder, becomes)) holder[becomes] = value;
}

/** The objects of a body that a path without its last name leads to. */
function holdersAt(value: unknown, names: readonly string[]): readonly Holder[] {
  const [name, ...rest] = names;
  if (name === undefined) return isObject(value) ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  const next = name === '*' ? Object.values(value) : [(value as Holder)[name]];
  return next.flatMap((each) => holdersAt(each, rest));
}

/** Changes a body by what is declared for an operation. */
export function adoptForeignMembers(
  body: unknown,
  operation: string,
  members: readonly ForeignMember[] = FOREIGN_MEMBERS,
): void {
  const isSearch = operation.startsWith('POST ') && operation.endsWith('/search');
  for (const member of members) {
    const { operations } = member;
    if (!operations.includes(operation) && !(isSearch && operations.includes(SEARCHES))) continue;
    const names = member.path.split('.');
    const last = names.pop() ?? '';
    for (const holder of holdersAt(body, names)) apply(holder, last, member);
  }
}

/** Takes what clients of other systems send. It stands behind the check of operations. */
export const takeForeignMembers: RequestHandler = (request, _response, next) => {
  const operation = operationIfDeclared(request);
  if (operation !== null) {
    adoptForeignMembers(request.body, `${operation.method} ${operation.path}`);
  }
  next();
};

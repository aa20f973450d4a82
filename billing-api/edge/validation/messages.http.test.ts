import { describe, expect } from 'vitest';
import { test } from '../../testing/billing-test.js';

const plans = ['POST', '/v1/plans'] as const;
const search = ['POST', '/v1/plans/search'] as const;

/** Requests that are wrong, and what says so to someone who bills for a living. */
const WRONG = [
  [
    'a misspelt member',
    plans,
    { naem: 'Pro' },
    /^naem is not a member of this request; did you mean name\?$/,
  ],
  [
    'a member in another spelling',
    plans,
    { name: 'Pro', lookupKey: 'x' },
    /did you mean lookup_key\?$/,
  ],
  [
    'no member of ours',
    plans,
    { name: 'Pro', colour: 'x' },
    /^colour is not a member of this request: leave it out$/,
  ],
  [
    'a needed member left out',
    plans,
    {},
    /^name: must be given: send a text of 1 to 255 characters$/,
  ],
  [
    'a needed choice left out',
    ['POST', '/v1/environments'],
    { name: 'Test' },
    /^type: must be given: send one of \w+(, \w+)+$/,
  ],
  [
    'a needed amount left out',
    ['POST', '/v1/invoices/inv_1/line_items'],
    { display_name: 'Setup' },
    /^amount: must be given: send a decimal string such as "0\.25"$/,
  ],
  [
    'a needed currency of another form',
    ['POST', '/v1/prices/units'],
    { name: 'Credits', code: 'c', symbol: 'c', base_currency: 'dollar', conversion_rate: '1' },
    /^base_currency: must be the code of a currency in three letters, such as usd$/,
  ],
  [
    'a needed id left out',
    ['POST', '/v1/entitlements'],
    { plan_id: 'plan_1' },
    /^feature_id: must be given: send an id$/,
  ],
  [
    'an object left out',
    ['PUT', '/v1/settings/invoice_config'],
    {},
    /^value: must be given: send an object$/,
  ],
  [
    'an unknown member of a setting',
    ['PUT', '/v1/settings/invoice_config'],
    { value: { prefx: 'A' } },
    /^value\.prefx: is not a member of this setting, which has .*prefix/,
  ],
  [
    'what cannot be expanded',
    search,
    { expand: 'payments' },
    /^expand: cannot expand payments; name one of prices, /,
  ],
  [
    'a number where none is meant',
    ['POST', '/v1/prices/units'],
    { name: 'Credits', code: 0.5, symbol: 'c', base_currency: 'usd', conversion_rate: '1' },
    /^code: must be a text of 1 to 20 letters, digits and underscores$/,
  ],
  ['a list in place of an object', plans, [], /^body: must be an object with name$/],
  [
    'a member without a name',
    plans,
    { name: 'Pro', ' ': 1 },
    /^" " is not a member of this request/,
  ],
  [
    'a number in place of a point in time',
    search,
    { start_time: 1767225600 },
    /^start_time: must be a date-time with Z or an offset, such as "2026-/,
  ],
  [
    'a number in place of an object',
    ['PUT', '/v1/settings/tenant_limits'],
    { value: 1 },
    /^value: must be an object$/,
  ],
  [
    'a text that cannot be stored',
    plans,
    { name: 'Pro', metadata: { a: ['\u0000'] } },
    /^metadata\.a\.0 contains a character that cannot be stored/,
  ],
  [
    'an order by an unknown member',
    search,
    { sort: [{ field: 'price' }] },
    /cannot sort by price; name one of id, .*lookup_key/,
  ],
  [
    'a filter by an unknown member',
    search,
    { filters: [{ field: 'price', value: { string: 'x' } }] },
    /cannot filter by price; name one of .*name.*, or metadata\.<key>/,
  ],
  [
    'a filter of another type',
    search,
    { filters: [{ field: 'name', value: { number: 1 } }] },
    /name is a text: give value\.string/,
  ],
] as const;

/** Bodies that are no JSON object. */
const TORN = [
  [
    '{"name": "Pro",}',
    /^the body is not JSON, at character 16: check quotes, commas and brackets$/,
  ],
  ['name=Pro', /^the body is not JSON: send an object, as in \{"name": "Pro"\}$/],
] as const;

describe('an error names the member and what to send', () => {
  test('whatever is wrong with a request', async ({ api }) => {
    for (const [what, [method, path], body, message] of WRONG) {
      const answer = await api.call(method, path, { body });
      expect([what, answer.status, answer.body.message]).toEqual([
        what,
        400,
        expect.stringMatching(message),
      ]);
    }
    const headers = { 'content-type': 'application/json' };
    for (const [raw, message] of TORN) {
      const answer = await api.call('POST', '/v1/plans', { raw, headers });
      expect([answer.status, answer.body.message]).toEqual([400, expect.stringMatching(message)]);
    }
  });

  test('also where a record cannot be removed, or a member is taken', async ({ api }) => {
    const plan = await api.make('/v1/plans', { name: 'Pro', lookup_key: 'pro' });
    await api.make('/v1/customers', { external_id: 'acme' });
    await api.make('/v1/prices', { entity_id: plan.id, currency: 'usd', amount: '1' });
    await api.make('/v1/subscriptions', {
      external_customer_id: 'acme',
      plan_id: plan.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
    });
    const removal = await api.call('DELETE', `/v1/plans/${plan.id}`);
    expect(removal.body.message).toBe(
      'the plan has a subscription that is not cancelled; cancel it first',
    );
    const again = await api.call('POST', '/v1/plans', { body: { name: 'Pro', lookup_key: 'pro' } });
    expect([again.status, again.body.message]).toEqual([
      409,
      'a plan with this lookup_key exists already; choose another',
    ]);
  });

  test('only where something is needed is a request without a body refused', async ({ api }) => {
    const found = await api.call('POST', '/v1/plans/search');
    expect([found.status, found.body.items]).toEqual([200, []]);
    const refused = await api.call('POST', '/v1/plans');
    expect([refused.status, refused.body.message]).toEqual([
      400,
      'name: must be given: send a text of 1 to 255 characters',
    ]);
  });
});

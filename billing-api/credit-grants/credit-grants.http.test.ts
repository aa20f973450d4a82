import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { noRows } from '../../sql/columns.js';
import { expectRefusals, makeKey, makeSubscription, test } from '../testing/billing-test.js';
import type { BillingUnderTest } from '../testing/billing-harness.js';

const PATH = '/v1/creditgrants';
const NOW = '2026-02-01T00:00:00.000Z';
const ONCE = { name: 'Welcome', credits: '100', cadence: 'ONETIME' };

async function makeOwners(api: BillingUnderTest) {
  const { planId, id } = await makeSubscription(api);
  const addon = await api.make('/v1/addons', { name: 'Extra', lookup_key: 'extra' });
  return {
    ofPlan: { ...ONCE, scope: 'PLAN', plan_id: planId },
    ofAddon: { ...ONCE, scope: 'ADDON', addon_id: addon.id as string },
    ofSubscription: { ...ONCE, scope: 'SUBSCRIPTION', subscription_id: id, start_date: NOW },
  };
}

describe('POST /creditgrants', () => {
  test('answers 201 with every member, for a plan, an addon and a subscription', async ({
    api,
    clock,
  }) => {
    clock.set(NOW);
    const { ofPlan, ofAddon, ofSubscription } = await makeOwners(api);
    const terms = {
      cadence: 'RECURRING',
      period: 'MONTHLY',
      period_count: 2,
      credits: '12.5',
      priority: 3,
      expiration_type: 'DURATION',
      expiration_duration: 10,
      expiration_duration_unit: 'DAY',
      conversion_rate: '0.5',
      topup_conversion_rate: '0.4',
      metadata: { team: 'core' },
    };
    const { status, body, headers } = await api.call('POST', PATH, {
      body: { ...ofPlan, ...terms, conversion_rate: '0.50' },
    });
    expect([status, headers.get('etag')]).toEqual([201, '"1"']);
    expect(body).toEqual({
      ...ofPlan,
      ...terms,
      id: expect.stringMatching(/^cg_/),
      tenant_id: api.environment.tenantId,
      environment_id: api.environment.environmentId,
      addon_id: null,
      subscription_id: null,
      credit_grant_anchor: null,
      start_date: null,
      end_date: null,
      status: 'published',
      created_at: NOW,
      updated_at: NOW,
      created_by: api.userId,
      updated_by: api.userId,
    });
    expect((await api.call('GET', `${PATH}/${body.id}`)).body).toEqual(body);
    expect(await api.make(PATH, ofAddon)).toMatchObject({
      scope: 'ADDON',
      plan_id: null,
      addon_id: ofAddon.addon_id,
      expiration_type: 'NEVER',
      period: null,
      period_count: null,
      priority: null,
      conversion_rate: null,
    });
    expect(await api.make(PATH, ofSubscription)).toMatchObject({
      subscription_id: ofSubscription.subscription_id,
      start_date: NOW,
      end_date: null,
      credit_grant_anchor: NOW,
    });
  });

  test('refuses what breaks a rule, naming the member', async ({ api }) => {
    const { ofPlan, ofAddon, ofSubscription } = await makeOwners(api);
    const before = '2026-01-31T23:59:59Z';
    await expectRefusals(api, PATH, [
      ['no name', { ...ofPlan, name: ' ' }, 'name'],
      ['no owner', { ...ofPlan, plan_id: undefined }, 'plan_id'],
      ['two owners', { ...ofPlan, addon_id: ofAddon.addon_id }, 'addon_id'],
      ['no addon', { ...ofAddon, addon_id: undefined, plan_id: ofPlan.plan_id }, 'addon_id'],
      ['no credits', { ...ofPlan, credits: '0' }, 'credits'],
      ['credits below 0', { ...ofPlan, credits: '-1' }, 'credits'],
      ['credits as a number', { ...ofPlan, credits: 1 }, 'credits'],
      ['an unknown cadence', { ...ofPlan, cadence: 'DAILY' }, 'cadence'],
      ['no period', { ...ofPlan, cadence: 'RECURRING', period_count: 1 }, 'period'],
      ['no count', { ...ofPlan, cadence: 'RECURRING', period: 'DAILY' }, 'period_count'],
      ['a count of 0', { ...ofPlan, period_count: 0 }, 'period_count'],
      ['a count of 1001', { ...ofPlan, period_count: 1001 }, 'period_count'],
      ['a duration of 0', { ...ofPlan, expiration_duration: 0 }, 'expiration_duration'],
      [
        'a duration without its unit',
        { ...ofPlan, expiration_type: 'DURATION', expiration_duration: 1 },
        'expiration_duration_unit',
      ],
      ['a rate of 0', { ...ofPlan, conversion_rate: '0' }, 'conversion_rate'],
      ['a top-up rate of 0', { ...ofPlan, topup_conversion_rate: '0' }, 'topup_conversion_rate'],
      ['a start of a plan', { ...ofPlan, start_date: NOW }, 'start_date'],
      ['an end of an addon', { ...ofAddon, end_date: NOW }, 'end_date'],
      ['an anchor of a plan', { ...ofPlan, credit_grant_anchor: NOW }, 'credit_grant_anchor'],
      ['no start', { ...ofSubscription, start_date: undefined }, 'start_date'],
      ['an end before it', { ...ofSubscription, end_date: before }, 'end_date'],
      [
        'an anchor before it',
        { ...ofSubscription, credit_grant_anchor: before },
        'credit_grant_anchor',
      ],
    ]);
    const most = { ...ofPlan, period: 'DAILY', period_count: 1000, expiration_duration: 10_000 };
    expect((await api.call('POST', PATH, { body: most })).status).toBe(201);
    const atStart = { ...ofSubscription, end_date: NOW, credit_grant_anchor: NOW };
    expect((await api.call('POST', PATH, { body: atStart })).status).toBe(201);
  });

  test('answers 404 for an owner that is unknown or of others, 400 for one that is no more', async ({
    api,
    database,
  }) => {
    const { ofPlan, ofAddon, ofSubscription } = await makeOwners(api);
    const { apiKey } = await makeKey(database.database, {});
    const headers = { 'x-api-key': apiKey };
    for (const body of [ofPlan, ofAddon, ofSubscription]) {
      expect((await api.call('POST', PATH, { body, headers })).status).toBe(404);
    }
    const unknown = { ...ofPlan, plan_id: 'plan_x' };
    expect((await api.call('POST', PATH, { body: unknown })).status).toBe(404);
    await api.call('DELETE', `/v1/addons/${ofAddon.addon_id}`);
    expect((await api.call('POST', PATH, { body: ofAddon })).status).toBe(400);
    await ownerOf(database.database).query(sql.type(noRows)`
      UPDATE subscriptions SET subscription_status = 'cancelled'`);
    const late = await api.call('POST', PATH, { body: ofSubscription });
    expect([late.status, late.body.code]).toEqual([400, 'invalid_operation']);
  });

  test('or the archiving of its addon wins, when they come at once', async ({ api }) => {
    for (let round = 0; round < 5; round += 1) {
      const { id } = await api.make('/v1/addons', { name: 'Extra', lookup_key: `k${round}` });
      const body = { ...ONCE, scope: 'ADDON', addon_id: id };
      const [removed, made] = await Promise.all([
        api.call('DELETE', `/v1/addons/${id}`),
        api.call('POST', PATH, { body }),
      ]);
      expect(removed.status).toBe(200);
      expect([201, 400]).toContain(made.status);
      const list = await api.call('GET', `/v1/addons/${id}/creditgrants`);
      expect(list.body.pagination.total).toBe(made.status === 201 ? 1 : 0);
    }
  });
});

describe('a credit grant', () => {
  test('is listed below its plan and its addon, and comes with the plan', async ({
    api,
    database,
  }) => {
    const { ofPlan, ofAddon } = await makeOwners(api);
    const first = await api.make(PATH, ofPlan);
    const second = await api.make(PATH, { ...ofPlan, name: 'Second' });
    const third = await api.make(PATH, ofAddon);
    const page = { limit: 1, offset: 0 };
    const ofPlans = `/v1/plans/${ofPlan.plan_id}`;
    expect((await api.call('GET', `${ofPlans}/creditgrants?limit=1`)).body).toEqual({
      items: [second],
      pagination: { ...page, total: 2 },
    });
    const path = `/v1/addons/${ofAddon.addon_id}/creditgrants`;
    expect((await api.call('GET', `${path}?limit=1`)).body).toEqual({
      items: [third],
      pagination: { ...page, total: 1 },
    });
    expect((await api.call('GET', ofPlans)).body.credit_grants).toEqual([first, second]);
    const headers = { 'x-api-key': (await makeKey(database.database, {})).apiKey };
    for (const hidden of [`${ofPlans}/creditgrants`, path, `${PATH}/${first.id}`]) {
      expect((await api.call('GET', hidden, { headers })).status).toBe(404);
    }
    await api.call('DELETE', `${PATH}/${second.id}`);
    const clone = await api.make(`${ofPlans}/clone`, {});
    expect(clone.credit_grants).toEqual([
      {
        ...first,
        id: expect.not.stringContaining(first.id),
        plan_id: clone.id,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    ]);
    expect((await api.call('GET', `/v1/plans/${clone.id}`)).body).toEqual(clone);
  });

  test('of a plan or an addon changes its name and metadata, and is archived', async ({ api }) => {
    const { ofPlan, ofSubscription } = await makeOwners(api);
    const { id } = await api.make(PATH, { ...ofPlan, metadata: { a: 1 } });
    const put = (body: object, headers = {}) => api.call('PUT', `${PATH}/${id}`, { body, headers });
    const changed = await put({ name: 'Starter', metadata: null });
    expect([changed.status, changed.headers.get('etag')]).toEqual([200, '"2"']);
    expect(changed.body).toMatchObject({ name: 'Starter', metadata: {}, credits: '100' });
    expect((await put({ name: 'B' }, { 'if-match': '"1"' })).status).toBe(409);
    for (const body of [{ name: ' ' }, { credits: '1' }, { end_date: '2030-01-01T00:00:00Z' }]) {
      expect([body, (await put(body)).status]).toEqual([body, 400]);
    }
    const end = { body: { end_date: '2030-01-01T00:00:00Z' } };
    expect((await api.call('DELETE', `${PATH}/${id}`, end)).body.details).toEqual({
      end_date: 'must be left out with scope PLAN',
    });
    const removed = await api.call('DELETE', `${PATH}/${id}`);
    expect([removed.status, removed.body.message]).toEqual([200, `credit grant ${id} is archived`]);
    expect((await api.call('DELETE', `${PATH}/${id}`)).body.code).toBe('invalid_operation');
    expect((await put({ name: 'B' })).status).toBe(400);
    expect((await api.call('GET', `${PATH}/${id}`)).body.status).toBe('archived');
    for (const method of ['PUT', 'DELETE']) {
      expect((await api.call(method, `${PATH}/cg_x`, { body: {} })).status).toBe(404);
    }
    expect((await api.make(PATH, ofSubscription)).status).toBe('published');
  });

  test('of a subscription ends now or later, and never begins again', async ({ api, clock }) => {
    clock.set(NOW);
    const { ofSubscription } = await makeOwners(api);
    const { id } = await api.make(PATH, ofSubscription);
    const put = (end_date: string | null) =>
      api.call('PUT', `${PATH}/${id}`, { body: { end_date } });
    const later = '2026-05-01T00:00:00.000Z';
    expect((await put(later)).body.end_date).toBe(later);
    expect((await put(null)).body.end_date).toBeNull();
    clock.set('2026-03-01T00:00:00Z');
    expect((await put('2026-02-28T23:59:59Z')).body.details.end_date).toContain('in the past');
    expect((await put('2026-01-01T00:00:00Z')).body.details.end_date).toContain('start_date');
    const end = (body?: object) =>
      api.call('DELETE', `${PATH}/${id}`, body === undefined ? {} : { body });
    const message = `credit grant ${id} ends at ${later}`;
    expect((await end({ end_date: later })).body).toEqual({ message });
    const now = '2026-03-01T00:00:00.000Z';
    expect((await end()).body).toEqual({ message: `credit grant ${id} ends at ${now}` });
    for (const answer of [await end(), await put(later), await put(null)]) {
      expect([answer.status, answer.body.details.end_date]).toEqual([
        400,
        'has passed: the grant has ended',
      ]);
    }
    const body = { name: 'Past' };
    expect((await api.call('PUT', `${PATH}/${id}`, { body })).body.end_date).toBe(now);
    // One that has not begun ends where it would have begun.
    const planned = await api.make(PATH, { ...ofSubscription, start_date: later });
    await api.call('DELETE', `${PATH}/${planned.id}`);
    const read = (await api.call('GET', `${PATH}/${planned.id}`)).body;
    expect(read).toMatchObject({ status: 'published', end_date: later });
  });
});

describe('a new subscription', () => {
  test('has copies of the grants of its plan and addons, from its start and theirs', async ({
    api,
    clock,
  }) => {
    clock.set(NOW);
    const { ofPlan, ofAddon, ofSubscription } = await makeOwners(api);
    await api.make(PATH, { ...ofPlan, metadata: { a: 1 } });
    const gone = await api.make(PATH, ofPlan);
    await api.call('DELETE', `${PATH}/${gone.id}`);
    const monthly = { cadence: 'RECURRING', period: 'MONTHLY', period_count: 1, credits: '20' };
    await api.make(PATH, { ...ofAddon, ...monthly });
    const fee = { addon_id: ofAddon.addon_id, currency: 'usd', amount: '5' };
    await api.make('/v1/prices', fee);
    const later = '2026-02-10T00:00:00.000Z';
    const { id, credit_grants: grants } = await api.make('/v1/subscriptions', {
      external_customer_id: 'acme',
      plan_id: ofPlan.plan_id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: NOW,
      addons: [{ addon_id: ofAddon.addon_id, start_date: later }],
    });
    const own = { scope: 'SUBSCRIPTION', subscription_id: id, plan_id: null, addon_id: null };
    expect(grants).toMatchObject([
      { ...own, credits: '100', start_date: NOW, credit_grant_anchor: NOW, metadata: { a: 1 } },
      { ...own, ...monthly, start_date: later, credit_grant_anchor: later },
    ]);
    expect((await api.call('GET', `/v1/subscriptions/${id}`)).body.credit_grants).toEqual(grants);
    // A subscription that was there before has none.
    const old = await api.call('GET', `/v1/subscriptions/${ofSubscription.subscription_id}`);
    expect(old.body.credit_grants).toEqual([]);
  });

  test('has the grants of its request, from its start or theirs, beside the copies', async ({
    api,
    clock,
  }) => {
    clock.set(NOW);
    const { ofPlan } = await makeOwners(api);
    await api.make(PATH, ofPlan);
    const later = '2026-02-10T00:00:00.000Z';
    const end = '2026-05-01T00:00:00.000Z';
    const terms = {
      cadence: 'RECURRING',
      period: 'MONTHLY',
      period_count: 2,
      credits: '12.5',
      priority: 3,
      expiration_type: 'DURATION',
      expiration_duration: 10,
      expiration_duration_unit: 'DAY',
      conversion_rate: '0.5',
      topup_conversion_rate: '0.4',
      metadata: { team: 'core' },
    };
    const plain = { ...ONCE, name: 'Own' };
    const dated = { ...terms, name: 'Dated', scope: 'SUBSCRIPTION', start_date: later };
    const { id, credit_grants: grants } = await api.make('/v1/subscriptions', {
      external_customer_id: 'acme',
      plan_id: ofPlan.plan_id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: end,
      credit_grants: [plain, { ...dated, end_date: later, credit_grant_anchor: end }],
    });
    const own = { scope: 'SUBSCRIPTION', subscription_id: id, plan_id: null, addon_id: null };
    expect(grants).toMatchObject([
      { ...own, name: 'Welcome', start_date: end },
      { ...own, ...plain, start_date: end, end_date: null, credit_grant_anchor: end },
      { ...own, ...dated, end_date: later, credit_grant_anchor: end },
    ]);
    expect((await api.call('GET', `/v1/subscriptions/${id}`)).body.credit_grants).toEqual(grants);
    expect((await api.call('GET', `${PATH}/${grants[1].id}`)).body).toEqual(grants[1]);
    const trail = await api.call('POST', '/v1/audit/search', {
      body: { entity_id: grants[1].id },
    });
    expect(trail.body.items).toMatchObject([{ entity_type: 'credit_grant', action: 'created' }]);
    // It is a grant like any other.
    expect((await api.call('DELETE', `${PATH}/${grants[1].id}`)).status).toBe(200);
  });

  test('is not made with a grant that breaks a rule, which the answer names', async ({ api }) => {
    const { ofPlan } = await makeOwners(api);
    const parties = {
      external_customer_id: 'acme',
      plan_id: ofPlan.plan_id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: NOW,
    };
    const before = '2026-01-31T23:59:59Z';
    const second = (grant: object) => ({
      ...parties,
      credit_grants: [ONCE, { ...ONCE, ...grant }],
    });
    const at = (member: string) => `credit_grants.1.${member}`;
    await expectRefusals(api, '/v1/subscriptions', [
      ['no name', second({ name: ' ' }), at('name')],
      ['no credits', second({ credits: '0' }), at('credits')],
      ['another scope', second({ scope: 'PLAN' }), at('scope')],
      ['an owner', second({ plan_id: ofPlan.plan_id }), at('plan_id')],
      ['its own id', second({ subscription_id: 'subs_1' }), at('subscription_id')],
      ['no period', second({ cadence: 'RECURRING', period_count: 1 }), at('period')],
      ['no count', second({ cadence: 'RECURRING', period: 'DAILY' }), at('period_count')],
      ['no duration', second({ expiration_type: 'DURATION' }), at('expiration_duration')],
      ['a rate of 0', second({ conversion_rate: '0' }), at('conversion_rate')],
      ['a start that is none', second({ start_date: 'soon' }), at('start_date')],
      ['an end before the start', second({ end_date: before }), at('end_date')],
      ['an anchor before it', second({ credit_grant_anchor: before }), at('credit_grant_anchor')],
      ['too many', { ...parties, credit_grants: Array(101).fill(ONCE) }, 'credit_grants'],
    ]);
    expect((await api.make('/v1/subscriptions/search', {})).pagination.total).toBe(1);
  });

  test('without a start_date begins when its grants and addons do, to the millisecond', async ({
    api,
    clock,
  }) => {
    clock.set(NOW);
    const { ofPlan, ofAddon } = await makeOwners(api);
    await api.make('/v1/prices', { addon_id: ofAddon.addon_id, currency: 'usd', amount: '5' });
    // A clock that goes on with every look at it.
    const first = Date.parse(NOW);
    let looks = 0;
    const now = (): number => {
      looks += 1;
      return first + looks * 1000;
    };
    Object.assign(clock, { now });
    const { start_date: start, ...made } = await api.make('/v1/subscriptions', {
      external_customer_id: 'acme',
      plan_id: ofPlan.plan_id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      credit_grants: [ONCE],
      addons: [{ addon_id: ofAddon.addon_id }],
    });
    const lines = made.line_items.map((line: { start_date: string }) => line.start_date);
    expect([...lines, made.credit_grants[0].start_date]).toEqual([start, start, start]);
  });
});

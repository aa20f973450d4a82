import { describe, expect } from 'vitest';
import type { BillingUnderTest } from '../testing/billing-harness.js';
import { expectRefusals, makeKey, makeSubscription, test } from '../testing/billing-test.js';

const PATH = '/v1/alerts/setting';
const above = (threshold: number) => ({ condition: 'above', threshold });
const LEVELS = { critical: above(1000), warning: above(800) };
const STORED = { alert_enabled: true, info: null, ...LEVELS };

type Entity = { readonly entity_type: string; readonly entity_id: string };

/** One of everything that can have a setting. */
async function makeEntities(api: BillingUnderTest): Promise<readonly [Entity, Entity, Entity]> {
  const { id } = await makeSubscription(api);
  const { line_items: lines } = (await api.call('GET', `/v1/subscriptions/${id}`)).body;
  const storage = { name: 'Storage', entity_type: 'price', lookup_key: 'storage' };
  const group = await api.make('/v1/groups', storage);
  return [
    { entity_type: 'subscription', entity_id: id },
    { entity_type: 'subscription_line_item', entity_id: lines[0].id },
    { entity_type: 'group', entity_id: group.id },
  ];
}

describe('POST /alerts/setting', () => {
  test('answers 201 with every member, for a subscription, a line item and a group', async ({
    api,
  }) => {
    for (const entity of await makeEntities(api)) {
      const body = { ...entity, alert_settings: LEVELS };
      const made = await api.call('POST', PATH, { body });
      expect([made.status, made.headers.get('etag'), made.body]).toEqual([
        201,
        '"1"',
        {
          ...entity,
          alert_settings: STORED,
          id: expect.stringMatching(/^alert_set_/),
          tenant_id: api.environment.tenantId,
          environment_id: api.environment.environmentId,
          metadata: {},
          status: 'published',
          created_at: expect.any(String),
          created_by: api.userId,
          updated_at: made.body.created_at,
          updated_by: api.userId,
        },
      ]);
      expect((await api.call('GET', `${PATH}/${made.body.id}`)).body).toEqual(made.body);
    }
  });

  test('refuses what breaks a rule, naming the member', async ({ api }) => {
    const [entity] = await makeEntities(api);
    const good = { ...entity, alert_settings: LEVELS };
    await expectRefusals(api, PATH, [
      ['no type', { ...good, entity_type: undefined }, 'entity_type'],
      ['another type', { ...good, entity_type: 'plan' }, 'entity_type'],
      ['no entity', { ...good, entity_id: undefined }, 'entity_id'],
      ['an empty id', { ...good, entity_id: '' }, 'entity_id'],
      ['no settings', entity, 'alert_settings'],
      ['settings of null', { ...good, alert_settings: null }, 'alert_settings'],
      [
        'a warning alone',
        { ...good, alert_settings: { warning: above(1) } },
        'alert_settings.warning',
      ],
      [
        'a warning beyond critical',
        { ...good, alert_settings: { ...LEVELS, warning: above(1000.5) } },
        'alert_settings.warning',
      ],
      ['an unknown member', { ...good, metadata: {} }, 'metadata'],
    ]);
    expect((await api.make(`${PATH}/search`, {})).pagination.total).toBe(0);
  });

  test('sends whoever means a feature to the settings of the feature', async ({ api }) => {
    const feature = await api.make('/v1/features', { name: 'Calls', type: 'boolean' });
    const body = { entity_type: 'feature', entity_id: feature.id, alert_settings: LEVELS };
    const { status, body: error } = await api.call('POST', PATH, { body });
    expect([status, error.details.entity_type]).toEqual([
      400,
      'a feature has its alerts in its member alert_settings: change that instead',
    ]);
    const own = await api.call('PUT', `/v1/features/${feature.id}`, {
      body: { alert_settings: LEVELS },
    });
    expect(own.body.alert_settings).toEqual(STORED);
  });

  test('answers 404 for what is unknown, of another kind or of others, 400 for what is archived', async ({
    api,
    database,
  }) => {
    const entities = await makeEntities(api);
    const headers = { 'x-api-key': (await makeKey(database.database, {})).apiKey };
    const names = ['subscription', 'subscription line item', 'group'];
    for (const [index, entity] of entities.entries()) {
      const body = { ...entity, alert_settings: LEVELS };
      const foreign = await api.call('POST', PATH, { body, headers });
      const unknown = await api.call('POST', PATH, { body: { ...body, entity_id: 'x_1' } });
      const message = (id: string) => `${names[index]} ${id} does not exist`;
      expect([foreign.status, foreign.body.message]).toEqual([404, message(entity.entity_id)]);
      expect([unknown.status, unknown.body.message]).toEqual([404, message('x_1')]);
      const other = { ...body, entity_type: entities[(index + 1) % 3]?.entity_type };
      expect((await api.call('POST', PATH, { body: other })).status).toBe(404);
    }
    const group = entities[2];
    await api.call('DELETE', `/v1/groups/${group.entity_id}`);
    const late = await api.call('POST', PATH, { body: { ...group, alert_settings: LEVELS } });
    expect([late.status, late.body.code]).toEqual([400, 'invalid_operation']);
  });

  test('answers 409 for a second setting of one entity, also when many come at once', async ({
    api,
  }) => {
    const [, line] = await makeEntities(api);
    const body = { ...line, alert_settings: LEVELS };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => api.call('POST', PATH, { body })),
    );
    const made = answers.filter(({ status }) => status === 201);
    expect(made).toHaveLength(1);
    for (const { status, body: error } of answers.filter((each) => each !== made[0])) {
      expect([status, error.code, error.details]).toEqual([
        409,
        'already_exists',
        { entity_id: 'is taken' },
      ]);
    }
    await api.call('DELETE', `${PATH}/${made[0]?.body.id}`);
    expect((await api.call('POST', PATH, { body })).status).toBe(201);
  });
});

describe('an alert setting', () => {
  test('is found by its entity, and by nobody else', async ({ api, database }) => {
    const entities = await makeEntities(api);
    const ids: string[] = [];
    for (const entity of entities) {
      ids.push((await api.make(PATH, { ...entity, alert_settings: LEVELS })).id);
    }
    const search = async (body: object, headers = {}): Promise<string[]> => {
      const answer = await api.call('POST', `${PATH}/search`, { body, headers });
      return answer.body.items.map(({ id }: { id: string }) => id);
    };
    const of = (field: string, value: string) => ({
      filters: [{ field, value: { string: value } }],
    });
    expect(await search({ sort: [{ field: 'created_at', direction: 'asc' }] })).toEqual(ids);
    expect(await search(of('entity_type', 'group'))).toEqual([ids[2]]);
    expect(await search(of('entity_id', entities[1].entity_id))).toEqual([ids[1]]);
    expect(await search({ status: 'archived' })).toEqual([]);
    const wrong = await api.call('POST', `${PATH}/search`, { body: of('alert_settings', 'x') });
    expect(wrong.status).toBe(400);
    const headers = { 'x-api-key': (await makeKey(database.database, {})).apiKey };
    expect(await search({}, headers)).toEqual([]);
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const options = { ...(method === 'PUT' ? { body: {} } : {}), headers };
      const foreign = await api.call(method, `${PATH}/${ids[0]}`, options);
      expect([method, foreign.status]).toEqual([method, 404]);
    }
  });

  test('is replaced as a whole, by the rules that made it', async ({ api }) => {
    const [entity] = await makeEntities(api);
    const made = await api.make(PATH, { ...entity, alert_settings: LEVELS });
    const put = (body: unknown, headers = {}) =>
      api.call('PUT', `${PATH}/${made.id}`, { body, headers });
    const info = { alert_enabled: false, info: { condition: 'below', threshold: 1.5 } };
    const changed = await put({ alert_settings: info });
    expect([changed.status, changed.headers.get('etag'), changed.body]).toEqual([
      200,
      '"2"',
      {
        ...made,
        alert_settings: { critical: null, warning: null, ...info },
        updated_at: changed.body.updated_at,
      },
    ]);
    // What was answered can be sent again, and a request without members changes none.
    const again = await put({ alert_settings: made.alert_settings });
    expect(again.body.alert_settings).toEqual(STORED);
    expect((await put({})).body.alert_settings).toEqual(STORED);
    for (const body of [
      { alert_settings: null },
      { alert_settings: { warning: above(1) } },
      { entity_id: entity.entity_id },
    ]) {
      expect([body, (await put(body)).status]).toEqual([body, 400]);
    }
    const late = await put({}, { 'if-match': '"1"' });
    expect([late.status, late.body.code]).toEqual([409, 'version_conflict']);
    const read = await api.call('GET', `${PATH}/${made.id}`);
    expect([read.headers.get('etag'), read.body.alert_settings]).toEqual(['"4"', STORED]);
  });

  test('is archived once, and its changes stand in the audit trail', async ({ api }) => {
    const [entity] = await makeEntities(api);
    const { id } = await api.make(PATH, { ...entity, alert_settings: LEVELS });
    const body = { alert_settings: { critical: above(1) } };
    await api.call('PUT', `${PATH}/${id}`, { body });
    expect((await api.call('DELETE', `${PATH}/${id}`)).status).toBe(200);
    for (const answer of [
      await api.call('DELETE', `${PATH}/${id}`),
      await api.call('PUT', `${PATH}/${id}`, { body }),
    ]) {
      expect([answer.status, answer.body.code]).toEqual([400, 'invalid_operation']);
    }
    expect((await api.call('GET', `${PATH}/${id}`)).body.status).toBe('archived');
    const trail = await api.call('POST', '/v1/audit/search', { body: { entity_id: id } });
    expect(trail.body.items).toMatchObject([
      { entity_type: 'alert_setting', action: 'archived' },
      { action: 'updated', before: { alert_settings: STORED } },
      { action: 'created', before: null },
    ]);
    // Nothing announces settings: only alerts will be announced.
    const events = await api.call('GET', '/v1/webhooks/events');
    const names = events.body.items.map((each: { event_name: string }) => each.event_name);
    expect(names).toEqual(['customer.created', 'subscription.created']);
  });
});

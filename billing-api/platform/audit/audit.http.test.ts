import { describe, expect } from 'vitest';
import { createId } from '../../../runtime/ids.js';
import { PLANS } from '../../declarations/catalog/plan.resource.js';
import { changeRecord } from '../../records/change-record.js';
import { writeUnit } from '../../records/unit.js';
import { makeKey, makeSubscription, test } from '../../testing/billing-test.js';

const PATH = '/v1/audit/search';
const UNIT = {
  name: 'Tokens',
  code: 'tokens',
  symbol: 'T',
  base_currency: 'usd',
  conversion_rate: '0.01',
};

describe('POST /audit/search', () => {
  test('answers what each change found and left, who made it, and by which request', async ({
    api,
  }) => {
    const headers = { 'x-request-id': 'create-tokens' };
    const made = await api.call('POST', '/v1/prices/units', { body: UNIT, headers });
    const path = `/v1/prices/units/${made.body.id}`;
    const changed = await api.call('PUT', path, { body: { name: 'Credits' } });
    await api.call('DELETE', path);
    const gone = (await api.call('GET', path)).body;
    const { items, pagination } = await api.make(PATH, { entity_id: made.body.id });
    expect(pagination).toEqual({ limit: 50, offset: 0, total: 3 });
    expect(items).toMatchObject([
      { action: 'archived', before: changed.body, after: gone },
      { action: 'updated', before: made.body, after: changed.body },
      { action: 'created', before: null, after: made.body, request_id: 'create-tokens' },
    ]);
    for (const entry of items) {
      expect(entry).toMatchObject({ entity_type: 'price_unit', user_id: api.userId });
      expect(entry.api_key_id).toMatch(/^secret_/);
    }
  });

  test('has an entry for every record that a request writes', async ({ api }) => {
    await makeSubscription(api);
    const { items } = await api.make(PATH, {});
    const written = items.map((entry: { entity_type: string }) => entry.entity_type);
    expect(written.toSorted()).toEqual([
      'customer',
      'meter',
      'plan',
      'price',
      'subscription',
      'subscription_line_item',
    ]);
  });

  test('says that a job or an operator made a change, and finds what they did', async ({
    api,
    clock,
    database: { database },
  }) => {
    const { environment } = api;
    const job = { kind: 'job', job: 'renewals', runId: 'run_1' } as const;
    const operator = { kind: 'operator', name: 'ada' } as const;
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    for (const actor of [job, operator]) {
      const changed = await writeUnit(
        { database, clock, createId },
        { environment, actor },
        (unit) => changeRecord(unit, PLANS, { target: plan, change: () => ({ name: actor.kind }) }),
      );
      expect(changed).toMatchObject({ name: actor.kind });
    }
    const { body } = await api.call('GET', `/v1/plans/${plan.id}`);
    expect([body.created_by, body.updated_by]).toEqual([api.userId, 'operator:ada']);
    const nobody = { user_id: null, api_key_id: null, request_id: null };
    const found = async (actor_kind: string) =>
      (await api.make(PATH, { actor_kind, entity_id: plan.id })).items;
    expect(await found('job')).toMatchObject([
      { ...nobody, actor_kind: 'job', actor_name: 'renewals', run_id: 'run_1' },
    ]);
    expect(await found('operator')).toMatchObject([
      { ...nobody, actor_kind: 'operator', actor_name: 'ada', run_id: null },
    ]);
    expect(await found('request')).toMatchObject([
      { actor_kind: 'request', actor_name: null, run_id: null, user_id: api.userId },
    ]);
  });

  test('has nothing of a request that is refused', async ({ api }) => {
    await api.make('/v1/prices/units', UNIT);
    expect((await api.call('POST', '/v1/prices/units', { body: UNIT })).status).toBe(409);
    const items = [{ entity_id: 'plan_x', currency: 'usd', amount: '1' }];
    expect((await api.call('POST', '/v1/prices/bulk', { body: { items } })).status).toBe(404);
    expect((await api.make(PATH, {})).pagination.total).toBe(1);
  });

  test('filters by kind, user, action and time, and pages', async ({ api, clock }) => {
    clock.set('2026-01-01T00:00:00Z');
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    clock.set('2026-01-02T00:00:00Z');
    await api.call('PUT', `/v1/plans/${plan.id}`, { body: { name: 'Pro 2' } });
    await api.make('/v1/prices/units', UNIT);
    const found = async (body: object): Promise<string[]> =>
      (await api.make(PATH, body)).items.map(
        (entry: { entity_type: string; action: string }) => `${entry.entity_type} ${entry.action}`,
      );
    expect(await found({ entity_type: 'plan' })).toEqual(['plan updated', 'plan created']);
    expect(await found({ action: 'updated' })).toEqual(['plan updated']);
    expect(await found({ user_id: 'user_x' })).toEqual([]);
    expect(await found({ end_time: '2026-01-02T00:00:00Z' })).toEqual(['plan created']);
    expect(await found({ start_time: '2026-01-02T00:00:00Z', limit: 1, offset: 1 })).toHaveLength(
      1,
    );
    const backwards = { start_time: '2026-01-02T00:00:00Z', end_time: '2026-01-01T00:00:00Z' };
    for (const body of [
      backwards,
      { limit: 0 },
      { limit: 1001 },
      { action: 'seen' },
      { id: 'x' },
    ]) {
      const { status, body: error } = await api.call('POST', PATH, { body });
      expect([body, status, error.code]).toEqual([body, 400, 'validation_error']);
    }
  });

  test('is for callers who may read everything', async ({ api, database }) => {
    const { environment } = api;
    const statusAs = async (roles: string[]): Promise<number> => {
      const { apiKey } = await makeKey(database.database, { environment, roles });
      const headers = { 'x-api-key': apiKey };
      return (await api.call('POST', PATH, { body: {}, headers })).status;
    };
    expect(await statusAs(['all_reader'])).toBe(200);
    expect(await statusAs(['event_reader'])).toBe(403);
  });
});

import { describe, expect } from 'vitest';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { makeKey, test } from '../../testing/billing-test.js';
import { setTenantLimits } from '../../testing/set-tenant-limits.js';

const DEFAULTS = {
  invoice_config: {
    prefix: 'INV',
    format: 'YYYYMM',
    start_sequence: 1,
    timezone: 'UTC',
    separator: '-',
    suffix_length: 5,
    due_date_days: 1,
    finalization_delay_seconds: 7200,
    auto_complete_purchased_credit_transaction: false,
  },
  subscription_auto_cancel: { enabled: false, grace_period_days: 3 },
  payment_retries: { max_retries: 3, interval_days: 3 },
  wallet_bonus: { slabs: [] },
  event_rejected: { enabled: false },
  late_usage: { policy: 'bill', max_age_days: 90, least_amount: '0' },
  tenant_limits: { users: 10, production_environments: 1, development_environments: 2 },
} as const;

const put = (api: BillingUnderTest, key: string, value: unknown) =>
  api.call('PUT', `/v1/settings/${key}`, { body: { value } });

describe('a setting', () => {
  test('has its defaults until it is set; what is left out has its default again', async ({
    api,
  }) => {
    for (const [key, value] of Object.entries(DEFAULTS)) {
      const { status, body } = await api.call('GET', `/v1/settings/${key}`);
      expect([status, body]).toEqual([200, { key, value }]);
    }
    const acme = { prefix: 'ACME', timezone: 'europe/berlin', suffix_length: 10 };
    const set = await put(api, 'invoice_config', acme);
    const value = { ...DEFAULTS.invoice_config, ...acme, timezone: 'Europe/Berlin' };
    expect([set.status, set.body]).toEqual([200, { key: 'invoice_config', value }]);
    expect((await api.call('GET', '/v1/settings/invoice_config')).body).toEqual(set.body);
    const second = await put(api, 'invoice_config', { due_date_days: 14 });
    expect(second.body.value).toEqual({ ...DEFAULTS.invoice_config, due_date_days: 14 });
    const reset = await api.call('DELETE', '/v1/settings/invoice_config');
    expect([reset.status, reset.body.value]).toEqual([200, DEFAULTS.invoice_config]);
    const read = await api.call('GET', '/v1/settings/invoice_config');
    expect(read.body.value).toEqual(DEFAULTS.invoice_config);
    const trail = await api.make('/v1/audit/search', { entity_type: 'setting' });
    const seen = trail.items.map((each: { action: string }) => each.action);
    expect(seen).toEqual(['deleted', 'updated', 'updated']);
    expect(trail.items[1]).toMatchObject({ before: set.body, after: second.body });
  });

  test('of bonus slabs keeps their order and digits', async ({ api }) => {
    const slabs = [
      { threshold: '100', type: 'flat', value: '5.50' },
      { threshold: '1000.000000000000000001', type: 'percentage', value: '10' },
    ];
    expect((await put(api, 'wallet_bonus', { slabs })).body.value).toEqual({ slabs });
  });

  test('that is unknown is 404, and no name of a built-in member', async ({ api }) => {
    for (const key of ['colour', 'constructor', '__proto__', 'INVOICE_CONFIG']) {
      expect((await api.call('GET', `/v1/settings/${key}`)).status).toBe(404);
      expect((await put(api, key, {})).status).toBe(404);
      expect((await api.call('DELETE', `/v1/settings/${key}`)).status).toBe(404);
    }
  });

  test('refuses what it does not mean by name, and stays as it is', async ({ api }) => {
    const slab = { threshold: '1', type: 'flat', value: '1' };
    const cases: readonly (readonly [key: string, value: unknown, member: string])[] = [
      ['invoice_config', { colour: 'red' }, 'value.colour'],
      ['invoice_config', { prefix: '' }, 'value.prefix'],
      ['invoice_config', { prefix: 'x'.repeat(21) }, 'value.prefix'],
      ['invoice_config', { format: 'MMYYYY' }, 'value.format'],
      ['invoice_config', { start_sequence: 0 }, 'value.start_sequence'],
      ['invoice_config', { timezone: 'Mars/Base' }, 'value.timezone'],
      ['invoice_config', { separator: '--' }, 'value.separator'],
      ['invoice_config', { suffix_length: 0 }, 'value.suffix_length'],
      ['invoice_config', { suffix_length: 11 }, 'value.suffix_length'],
      ['invoice_config', { suffix_length: 1.5 }, 'value.suffix_length'],
      ['invoice_config', { due_date_days: -1 }, 'value.due_date_days'],
      [
        'invoice_config',
        { finalization_delay_seconds: 2_592_001 },
        'value.finalization_delay_seconds',
      ],
      [
        'invoice_config',
        { auto_complete_purchased_credit_transaction: 'yes' },
        'value.auto_complete_purchased_credit_transaction',
      ],
      ['subscription_auto_cancel', { enabled: 1 }, 'value.enabled'],
      ['subscription_auto_cancel', { grace_period_days: 366 }, 'value.grace_period_days'],
      ['payment_retries', { max_retries: 21 }, 'value.max_retries'],
      ['payment_retries', { interval_days: 0 }, 'value.interval_days'],
      ['wallet_bonus', { slabs: [{ ...slab, type: 'half' }] }, 'value.slabs.0.type'],
      ['wallet_bonus', { slabs: [{ ...slab, threshold: '-1' }] }, 'value.slabs.0.threshold'],
      ['wallet_bonus', { slabs: [slab, { ...slab, threshold: '1.0' }] }, 'value.slabs'],
      ['wallet_bonus', { slabs: Array.from({ length: 101 }, () => slab) }, 'value.slabs'],
      ['event_rejected', { enabled: null }, 'value.enabled'],
    ];
    for (const [key, value, member] of cases) {
      const { status, body } = await put(api, key, value);
      expect([key, member, status, Object.keys(body.details ?? {})]).toEqual([
        key,
        member,
        400,
        [member],
      ]);
    }
    for (const [key, value] of Object.entries(DEFAULTS)) {
      expect((await api.call('GET', `/v1/settings/${key}`)).body.value).toEqual(value);
    }
    const without = await api.call('PUT', '/v1/settings/event_rejected', { body: {} });
    expect(without.status).toBe(400);
  });

  test('belongs to its environment, and the limits to the tenant', async ({ api, database }) => {
    const { tenantId } = api.environment;
    const sibling = { tenantId, environmentId: `env_${'0'.repeat(26)}` };
    const near = await makeKey(database.database, { environment: sibling });
    const far = await makeKey(database.database, {});
    await put(api, 'event_rejected', { enabled: true });
    await setTenantLimits(database.database, api.environment, { users: 20 });
    const seenBy = async (apiKey: string): Promise<unknown[]> => {
      const headers = { 'x-api-key': apiKey };
      const rejected = await api.call('GET', '/v1/settings/event_rejected', { headers });
      const limits = await api.call('GET', '/v1/settings/tenant_limits', { headers });
      return [rejected.body.value.enabled, limits.body.value.users];
    };
    expect(await seenBy(near.apiKey)).toEqual([false, 20]);
    expect(await seenBy(far.apiKey)).toEqual([false, 10]);
  });

  test('of what a tenant may have is written by no super_admin of it', async ({ api }) => {
    const raised = { users: 10_000, production_environments: 100 };
    for (const { status, body } of [
      await put(api, 'tenant_limits', raised),
      await put(api, 'tenant_limits', { users: 0 }),
      await api.call('DELETE', '/v1/settings/tenant_limits'),
    ]) {
      expect([status, body.code, body.message]).toEqual([
        403,
        'permission_denied',
        'tenant_limits is set by the operator of the installation: ask there for higher limits',
      ]);
    }
    const { body } = await api.call('GET', '/v1/settings/tenant_limits');
    expect(body.value).toEqual(DEFAULTS.tenant_limits);
  });
});

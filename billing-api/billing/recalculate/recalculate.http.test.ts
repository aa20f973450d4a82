import { describe, expect } from 'vitest';
import { assertPresent } from '../../../runtime/failure.js';
import { killInJob } from '../../../sql/testing/killed-job.js';
import { test } from '../../testing/billed-test.js';
import { subscribeMonthly } from '../../testing/subscribe-monthly.js';

describe('POST /invoices/{id}/recalculate', () => {
  test('replaces a voided invoice once, from current data, and links the two', async ({
    api,
    bill,
  }) => {
    const { subscription, arrear } = await subscribeMonthly(api);
    await bill('2026-12-01T02:00:00.000Z');
    const { items } = (
      await api.call('POST', '/v1/invoices/search', {
        body: { period_end_lte: '2026-12-01T00:00:00Z' },
      })
    ).body;
    const [november] = items.filter(
      (invoice: { period_start: string }) => invoice.period_start === '2026-11-01T00:00:00.000Z',
    );
    const path = `/v1/invoices/${november.id}`;
    const early = await api.call('POST', `${path}/recalculate`);
    expect([early.status, early.body.code]).toEqual([400, 'invalid_operation']);
    await api.call('POST', `${path}/void`, { body: {} });
    await api.make('/v1/customers', { external_id: 'other' });
    await api.call('PUT', `/v1/prices/${arrear.id}`, { body: { display_name: 'Renamed' } });
    const begun = await Promise.all([1, 2, 3].map(() => api.call('POST', `${path}/recalculate`)));
    expect(begun.map(({ status }) => status).sort()).toEqual([202, 400, 400]);
    const { body: started } = assertPresent(
      begun.find(({ status }) => status === 202),
      'the call that began it',
    );
    const workflow = `/v1/workflows/${started.workflow_id}`;
    expect((await api.call('GET', workflow)).body).toMatchObject({
      ...{ status: 'Running', run_id: started.run_id, close_time: null, result: null },
    });
    await bill('2026-12-01T02:00:00.000Z');
    const { body: done } = await api.call('GET', workflow);
    const { body: voided } = await api.call('GET', path);
    expect(done).toMatchObject({
      status: 'Completed',
      result: { invoice_id: voided.id, recalculated_invoice_id: voided.recalculated_invoice_id },
    });
    const { body: replacement } = await api.call(
      'GET',
      `/v1/invoices/${voided.recalculated_invoice_id}`,
    );
    expect(replacement).toMatchObject({
      ...{ invoice_status: 'FINALIZED', total: voided.total, billing_reason: 'SUBSCRIPTION_CYCLE' },
      ...{ period_start: voided.period_start, subscription_id: subscription.id },
    });
    expect(replacement.invoice_number).not.toBe(voided.invoice_number);
    const again = await api.call('POST', `${path}/recalculate`);
    expect([again.status, again.body.code]).toEqual([400, 'invalid_operation']);
    expect((await api.call('POST', '/v1/invoices/inv_none/recalculate')).status).toBe(404);
  });

  test('is done once by another process when the one that does it is killed at its end', async ({
    api,
    bill,
    database,
    clickhouse,
  }) => {
    await subscribeMonthly(api);
    await bill('2026-11-01T02:00:00.000Z');
    const { body: found } = await api.call('POST', '/v1/invoices/search', {
      body: { billing_reason: 'SUBSCRIPTION_CYCLE' },
    });
    const path = `/v1/invoices/${found.items[0].id}`;
    await api.call('POST', `${path}/void`, { body: {} });
    await api.call('POST', `${path}/recalculate`);
    await killInJob('billing-api/testing/hang-in-job', {
      ...{ job: 'recalculate-invoice', at: 'end' },
      ...{ databaseUrl: database.url, clickHouseUrl: clickhouse.url },
    });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await bill('2026-11-01T02:00:00.000Z');
    const { body: all } = await api.call('POST', '/v1/invoices/search', {
      body: {
        billing_reason: 'SUBSCRIPTION_CYCLE',
        sort: [{ field: 'created_at', direction: 'asc' }],
      },
    });
    const [voided, replacement, ...others] = all.items;
    expect(others).toEqual([]);
    expect(voided.recalculated_invoice_id).toBe(replacement.id);
    const { body: workflows } = await api.call('POST', '/v1/workflows/search', { body: {} });
    expect(workflows.items).toMatchObject([{ status: 'Completed', entity_id: voided.id }]);
    const { body: jobs } = await api.call('GET', '/v1/jobs?job=recalculate-invoice');
    expect(jobs.items).toEqual([]);
  });
});

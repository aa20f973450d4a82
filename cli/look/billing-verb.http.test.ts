import { describe, expect } from 'vitest';
import { test } from '../../billing-api/testing/billed-test.js';
import { API_KEY } from '../../billing-api/testing/billing-harness.js';
import { storeParkedJob } from '../../billing-api/testing/filled-job.js';
import { subscribeMonthly } from '../../billing-api/testing/subscribe-monthly.js';
import { ApiClient } from './api-client.js';
import { billingLines, FAULTS, faultsOf } from './billing-lines.js';
import { readBillingState } from './billing-verb.js';
import { readShown } from './invoice-verbs.js';

describe('minutebook billing', () => {
  test('shows what is due, done, parked and wrong, and names the oldest draft', async ({
    api,
    bill,
    database: { database },
  }) => {
    const client = new ApiClient(`${api.url}/v1`, API_KEY);
    // Nothing is told before the watch has looked: no figure is taken for zero.
    await expect(readBillingState(client)).rejects.toThrow(/does not tell of the billing run/);
    const { billingDue, billingWait, billingFaults } = api.metrics;
    for (const kind of ['renewal', 'finalization', 'held']) {
      billingDue.set({ kind }, 0);
      billingWait.set({ kind }, 0);
    }
    for (const fault of Object.keys(FAULTS)) {
      billingFaults.set({ fault }, 0);
    }
    // The page of metrics is written at most once a second.
    const read = async () => {
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      return readBillingState(client);
    };
    const quiet = await read();
    expect(faultsOf(quiet.metrics)).toEqual([]);
    expect(billingLines(quiet)).toEqual([
      'All environments, read once a minute',
      '  periods to be billed                  none',
      '  drafts past their delay               none',
      '  drafts that wait for a meter          none',
      '  drafts that are final an hour late    none',
      '  periods that are billed an hour late  none',
      '  periods without an invoice            none',
      '  series of numbers with a gap          none',
      '  unpaid invoices told of an hour late  none',
      '  periods that begin in the future      none',
      'Invoices of this environment',
      '  draft                                 none',
      '  finalized                             none',
      '  skipped                               none',
      '  voided                                none',
      '  left behind                           none',
      '  late usage                            none',
      '  parked work                           none',
    ]);

    const { subscription } = await subscribeMonthly(api);
    await bill('2026-12-01T00:30:00.000Z');
    billingDue.set({ kind: 'finalization' }, 3);
    billingWait.set({ kind: 'finalization' }, 3_900);
    billingFaults.set({ fault: 'number_gap' }, 2);
    const { parked_job: job } = await storeParkedJob(database, api.environment);
    const busy = await read();
    const { body } = await api.call('POST', '/v1/invoices/search', {
      body: { subscription_id: subscription.id, invoice_status: ['DRAFT'] },
    });
    const lines = billingLines(busy);
    expect(lines).toContain('  drafts past their delay               3, the oldest for 1 h 5 min');
    expect(lines).toContain('  series of numbers with a gap          2  WRONG');
    expect(lines).toContain(
      `  draft                                 1, the oldest ${body.items[0].id}, of the period until 2026-12-01T00:00:00.000Z`,
    );
    expect(lines).toContain(
      `  parked finalize-invoice (${job}) after 10 tries: ClickHouse: Timeout error.`,
    );
    expect(faultsOf(busy.metrics)).toEqual(['2 series of numbers with a gap']);
  });
});

describe('minutebook invoice show', () => {
  test('names the price of a unit of each line, as a preview does', async ({ api, bill }) => {
    const { subscription } = await subscribeMonthly(api);
    await bill('2026-12-01T02:00:00.000Z');
    const client = new ApiClient(`${api.url}/v1`, API_KEY);
    const { body } = await api.call('POST', '/v1/invoices/search', {
      body: { subscription_id: subscription.id, period_end_gte: '2026-12-01T00:00:00Z' },
    });
    const lines = await readShown(client, body.items[0].id, { groupBy: [] });
    const cells = lines.map((line) => line.trim().split(/ {2,}/));
    expect(cells).toContainEqual(['Pro', '1', '100', '100.00']);
    expect(cells).toContainEqual(['Pro', '1', '30', '30.00']);
  });
});

import { describe, expect } from 'vitest';
import { assertPresent } from '../../../runtime/failure.js';
import { killInJob } from '../../../sql/testing/killed-job.js';
import { test } from '../../testing/billed-test.js';
import { expectBalancedBooks } from '../../testing/check-books.js';
import { subscribeMonthly } from '../../testing/subscribe-monthly.js';
import { payOpen } from '../../testing/pay-open.js';

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
      status: 'Running',
      run_id: started.run_id,
      close_time: null,
      result: null,
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
      invoice_status: 'FINALIZED',
      total: voided.total,
      billing_reason: 'SUBSCRIPTION_CYCLE',
      period_start: voided.period_start,
      subscription_id: subscription.id,
    });
    expect(replacement.invoice_number).not.toBe(voided.invoice_number);
    const again = await api.call('POST', `${path}/recalculate`);
    expect([again.status, again.body.code]).toEqual([400, 'invalid_operation']);
    expect((await api.call('POST', '/v1/invoices/inv_none/recalculate')).status).toBe(404);
  });

  test('waits until what settles a part of the period is voided too, and then charges all of it', async ({
    api,
    bill,
  }) => {
    await bill('2026-10-01T00:00:00Z');
    const plan = await api.make('/v1/plans', { name: 'Seats' });
    const price = { amount: '10', min_quantity: 10, invoice_cadence: 'ADVANCE', currency: 'usd' };
    await api.make('/v1/prices', { entity_id: plan.id, ...price });
    const subscribe = async (name: string) => {
      await api.make('/v1/customers', { external_id: name });
      return api.make('/v1/subscriptions', {
        external_customer_id: name,
        plan_id: plan.id,
        currency: 'usd',
        billing_period: 'MONTHLY',
        start_date: '2026-10-01T00:00:00Z',
      });
    };
    const [more, fewer] = [await subscribe('more'), await subscribe('fewer')];
    const ended = await subscribe('ended');
    await bill('2026-10-16T00:00:00Z');
    const seats = ({ id, line_items: [line] }: typeof more, quantity: string) =>
      api.make(`/v1/subscriptions/${id}/modify/execute`, {
        type: 'quantity_change',
        quantity_change_params: { line_items: [{ id: line.id, quantity }] },
      });
    const { changed_resources: changed } = await seats(more, '15');
    for (const one of [fewer, ended]) await seats(one, '7');
    const act = (id: string, verb: string) => api.call('POST', `/v1/invoices/${id}/${verb}`);
    for (const { latest_invoice: opening } of [more, fewer, ended]) {
      await api.make(`/v1/invoices/${opening.id}/void`, {});
    }
    const settling = changed.invoices[0].id as string;
    const waits = await act(more.latest_invoice.id, 'recalculate');
    expect([waits.status, waits.body.code]).toEqual([400, 'invalid_operation']);
    expect(waits.body.message).toContain(settling);
    await api.make(`/v1/invoices/${settling}/void`, {});
    const held = async (name: string) =>
      (await api.make('/v1/wallets/search', { external_customer_id: name })).items[0]?.balance;
    // Nothing was paid, so that nothing was given back.
    expect(await held('fewer')).toBe(undefined);
    const charged = async ({ latest_invoice: opening }: typeof more) => {
      expect((await act(opening.id, 'recalculate')).status).toBe(202);
      await bill('2026-10-17T00:00:00Z');
      const { body: voided } = await api.call('GET', `/v1/invoices/${opening.id}`);
      return (await api.call('GET', `/v1/invoices/${voided.recalculated_invoice_id}`)).body;
    };
    // 100.00 × 15 ÷ 31, and 150.00 or 70.00 × 16 ÷ 31.
    expect(await charged(more)).toMatchObject({ subtotal: '125.81' });
    const replacement = await charged(fewer);
    expect(replacement).toMatchObject({ subtotal: '84.52' });
    // What was given back of the old invoice does not count against the new one: all of it can be
    // credited, or comes back, and its time after an end is unused as a whole.
    const path = `/v1/invoices/${replacement.id}`;
    await api.call('PUT', `${path}/payment`, { body: { amount: '84.52' } });
    const note = await api.make('/v1/creditnotes', {
      invoice_id: replacement.id,
      process_credit_note: false,
      line_items: replacement.line_items.map(({ id, amount }: typeof replacement) => ({
        invoice_line_item_id: id,
        amount,
      })),
    });
    expect(note.total_amount).toBe('84.52');
    await api.make(`/v1/creditnotes/${note.id}/void`, {});
    await api.make(`${path}/void`, {});
    expect(await held('fewer')).toBe('84.52');
    await charged(ended);
    await payOpen(api);
    await api.make(`/v1/subscriptions/${ended.id}/cancel`, {
      cancellation_type: 'immediate',
      proration_behavior: 'create_prorations',
    });
    // 70.00 × 15 ÷ 31
    expect(await held('ended')).toBe('33.87');
    await expectBalancedBooks(api);
  });

  test('counts what a change of plan has set off once, whichever invoice is voided first', async ({
    api,
    bill,
  }) => {
    await bill('2026-01-01T00:00:00Z');
    const planOf = async (name: string, amount: string) => {
      const plan = await api.make('/v1/plans', { name });
      const price = { entity_id: plan.id, currency: 'usd', amount, invoice_cadence: 'ADVANCE' };
      await api.make('/v1/prices', price);
      return plan.id as string;
    };
    const [old, target] = [await planOf('Old', '100'), await planOf('New', '200')];
    const subscribe = async (name: string, paid: string | null) => {
      await api.make('/v1/customers', { external_id: name });
      const made = await api.make('/v1/subscriptions', {
        external_customer_id: name,
        plan_id: old,
        currency: 'usd',
        billing_period: 'MONTHLY',
      });
      const path = `/v1/invoices/${made.latest_invoice.id}`;
      if (paid !== null) await api.call('PUT', `${path}/payment`, { body: { amount: paid } });
      return { name, id: made.id as string, old: path };
    };
    const unpaid = await subscribe('unpaid', null);
    const paid = await subscribe('paid', '100');
    await bill('2026-01-16T00:00:00Z');
    const changed = async ({ id, ...one }: typeof paid) => {
      const { invoice } = await api.make(`/v1/subscriptions/${id}/change/execute`, {
        target_plan_id: target,
        billing_cadence: 'RECURRING',
        billing_cycle: 'anniversary',
        billing_period: 'MONTHLY',
        billing_period_count: 1,
        proration_behavior: 'create_prorations',
      });
      const held = async () =>
        (await api.make('/v1/wallets/search', { external_customer_id: one.name })).items[0]
          ?.balance ?? '0';
      const undo = async (path: string) => {
        await api.make(`${path}/void`, {});
        return held();
      };
      const replaced = async () => {
        await api.make(`${one.old}/recalculate`, {});
        await bill('2026-01-16T00:01:00Z');
        const { recalculated_invoice_id: next } = (await api.call('GET', one.old)).body;
        return `/v1/invoices/${next}`;
      };
      return { ...one, held, undo, replaced, new: `/v1/invoices/${invoice.id}` };
    };
    // What nobody paid is lowered by 51.61 of 100.00, and nothing is set off.
    const nobody = await changed(unpaid);
    expect((await api.call('GET', nobody.old)).body.amount_due).toBe('48.39');
    expect((await api.call('GET', nobody.new)).body.amount_due).toBe('200.00');
    expect(await nobody.undo(nobody.old)).toBe('0');
    expect(await nobody.undo(nobody.new)).toBe('0');
    const paying = await changed(paid);
    expect(await paying.undo(paying.new)).toBe('51.61');
    expect(await paying.undo(paying.old)).toBe('100');
    // What replaces the old one charges the time until the change, of which nothing was given back.
    const next = await nobody.replaced();
    expect((await api.call('GET', next)).body).toMatchObject({ subtotal: '48.39' });
    await api.call('PUT', `${next}/payment`, { body: { amount: '48.39' } });
    expect(await nobody.undo(next)).toBe('48.39');
    const prepaid = await paying.replaced();
    expect(await paying.held()).toBe('51.61');
    expect(await paying.undo(prepaid)).toBe('100');
    await expectBalancedBooks(api);
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
      job: 'recalculate-invoice',
      at: 'end',
      databaseUrl: database.url,
      clickHouseUrl: clickhouse.url,
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

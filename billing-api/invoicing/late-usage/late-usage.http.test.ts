import { describe, expect } from 'vitest';
import { verifyBundle } from '../../reading/verify/invoice-bundle.js';
import { FINAL, lateTest, linesOf } from '../../testing/late-usage-test.js';

describe('usage that comes after the invoice of its period is final', () => {
  lateTest(
    'is listed, told, previewed, and on the next invoice, which verifies byte for byte',
    async ({ api, bill, world }) => {
      const { id, count, look, invoices, listed } = world;
      await count('2027-01-10', 10);
      await bill(FINAL.january);
      await look();
      expect(await listed()).toEqual([]);
      await count('2027-01-20', 90);
      await look();
      const [first] = await invoices();
      const [late, ...others] = await listed('?state=open');
      expect(others).toEqual([]);
      expect(late).toMatchObject({
        invoice_id: first.id,
        invoice_number: first.invoice_number,
        subscription_id: id,
        quantity: '90',
        amount: '22.50',
        charged_amount: '0.00',
        charged_on: [],
        open_amount: '22.50',
        policy: 'bill',
        event_count: 90,
        first_received_at: '2027-01-20T10:00:00.000Z',
        last_received_at: '2027-01-20T10:59:00.000Z',
      });
      const verified = (await api.call('GET', `/v1/invoices/${first.id}/verify`)).body;
      expect(verified).toMatchObject({
        same_from_inputs: true,
        same_from_events: true,
        came_later: [{ quantity: '90', event_count: 90 }],
      });
      expect(verified.summary).toMatch(/^same as of .*; 90 units came later$/);
      // A look that is made again finds nothing that is new.
      await look();
      const events = await api.call('GET', '/v1/webhooks/events?event_type=usage.late');
      expect(events.body.items).toHaveLength(1);
      expect(events.body.items[0].payload.late_usage).toMatchObject({
        invoice_id: first.id,
        lines: [{ quantity: '90' }],
      });
      await count('2027-02-10', 4);
      const preview = await api.call('POST', '/v1/invoices/preview', {
        body: { subscription_id: id },
      });
      const lines = ['2027-02 Calls 4 1.00', '2027-01 Late usage: Calls 90 22.50'];
      expect(linesOf(preview.body)).toEqual(lines);
      await bill(FINAL.february);
      const [, second] = await invoices();
      expect([linesOf(second), second.total]).toEqual([lines, '23.50']);
      expect(await listed('?state=open')).toEqual([]);
      expect(await listed('?state=charged')).toMatchObject([
        { charged_amount: '22.50', charged_on: [second.id], open_amount: '0.00' },
      ]);
      const { body } = await api.call('GET', `/v1/invoices/${second.id}/verify`);
      expect(body).toMatchObject({
        same_from_inputs: true,
        same_from_events: true,
        differences: [],
        came_later: [],
      });
      const bundle = await api.call('GET', `/v1/invoices/${second.id}/bundle`);
      expect(verifyBundle(bundle.body)).toEqual([]);
      const path = `/v1/invoices/${second.id}/line_items/${second.line_items[1].id}/explain`;
      expect((await api.call('GET', path)).body).toMatchObject({
        amount: '22.50',
        quantity: { raw: '100' },
        late: {
          invoice_id: first.id,
          invoice_number: first.invoice_number,
          quantity_before: '10',
          cost: '25.00',
          charged_before: '2.50',
          waiting: '0.00',
        },
      });
    },
  );

  lateTest(
    'is not charged twice when its first invoice is voided and calculated again',
    async ({ api, bill, world }) => {
      const { count, look, invoices, listed } = world;
      await count('2027-01-10', 10);
      await bill(FINAL.january);
      await count('2027-01-20', 90);
      await look();
      await bill(FINAL.february);
      const [first, second] = await invoices();
      expect([first.total, second.total]).toEqual(['2.50', '22.50']);
      await api.call('POST', `/v1/invoices/${first.id}/void`, { body: {} });
      expect(await listed()).toEqual([]);
      await api.call('POST', `/v1/invoices/${first.id}/recalculate`);
      await bill('2027-03-02T00:00:00.000Z');
      const [again] = await invoices();
      expect(linesOf(again)).toEqual([
        '2027-01 Calls 100 25.00',
        '2027-01 Late usage: Calls -90 -22.50',
      ]);
      expect(again.total).toBe('2.50');
      // And when the invoice with the late line is voided, the next one has it again.
      await api.call('POST', `/v1/invoices/${second.id}/void`, { body: {} });
      await count('2027-01-21', 1);
      await look();
      await bill(FINAL.march);
      const march = (await invoices()).at(-1);
      expect(linesOf(march)).toEqual([
        '2027-03 Calls 0 0.00',
        '2027-01 Late usage: Calls 91 22.75',
      ]);
    },
  );

  lateTest('is left alone where the policy says so', async ({ api, bill, world }) => {
    const { id, planId, count, look, invoices, listed } = world;
    const setting = '/v1/settings/late_usage';
    expect((await api.call('GET', setting)).body.value).toEqual({
      policy: 'bill',
      max_age_days: 90,
      least_amount: '0',
    });
    await api.call('PUT', setting, { body: { value: { policy: 'report' } } });
    await count('2027-01-10', 10);
    await bill(FINAL.january);
    await count('2027-01-20', 90);
    await look();
    expect(await listed()).toMatchObject([{ policy: 'report', open_amount: '22.50' }]);
    await bill(FINAL.february);
    expect((await invoices()).map(({ total }) => total)).toEqual(['2.50']);
    // The plan says more than the setting, and the subscription more than the plan.
    await api.call('PUT', `/v1/plans/${planId}`, { body: { late_usage: { policy: 'bill' } } });
    expect(await listed()).toMatchObject([{ policy: 'bill' }]);
    const subscription = `/v1/subscriptions/${id}`;
    await api.call('PUT', subscription, { body: { late_usage: { policy: 'reopen' } } });
    expect(await listed()).toMatchObject([{ policy: 'reopen' }]);
    expect((await api.call('GET', subscription)).body.late_usage).toEqual({ policy: 'reopen' });
    await api.call('PUT', subscription, {
      body: { late_usage: { least_amount: '22.51' } },
    });
    await count('2027-03-10', 1);
    const previewed = async () => {
      await bill('2027-03-15T00:00:00.000Z');
      const preview = await api.call('POST', '/v1/invoices/preview', {
        body: { subscription_id: id },
      });
      return linesOf(preview.body);
    };
    const own = '2027-03 Calls 1 0.25';
    expect(await previewed()).toEqual([own]);
    const late = '2027-01 Late usage: Calls 90 22.50';
    for (const [rules, lines] of [
      [{ least_amount: '22.50' }, [own, late]],
      [{ max_age_days: 59 }, [own, late]],
      [{ max_age_days: 58 }, [own]],
    ] as const) {
      await api.call('PUT', subscription, { body: { late_usage: rules } });
      expect([rules, await previewed()]).toEqual([rules, lines]);
    }
  });

  lateTest('names what is wrong with rules', async ({ api, world }) => {
    const { id, planId } = world;
    const cases = [
      [{ policy: 'forget' }, 'policy'],
      [{ max_age_days: -1 }, 'max_age_days'],
      [{ max_age_days: 3_651 }, 'max_age_days'],
      [{ least_amount: '-1' }, 'least_amount'],
      [{ least_amount: 'much' }, 'least_amount'],
      [{ other: 1 }, 'other'],
    ] as const;
    for (const path of [`/v1/plans/${planId}`, `/v1/subscriptions/${id}`]) {
      for (const [rules, member] of cases) {
        const { status, body } = await api.call('PUT', path, { body: { late_usage: rules } });
        expect([path, rules, status]).toEqual([path, rules, 400]);
        expect(JSON.stringify(body)).toContain(`late_usage.${member}`);
      }
      const greatest = { policy: 'bill', max_age_days: 3_650, least_amount: '0' };
      const { body } = await api.call('PUT', path, { body: { late_usage: greatest } });
      expect(body.late_usage).toEqual(greatest);
      const cleared = await api.call('PUT', path, { body: { late_usage: null } });
      expect(cleared.body.late_usage).toBeNull();
    }
  });
});

import { expect } from 'vitest';
import { test } from '../../testing/billed-test.js';
import type { Answer } from '../../testing/money-test.js';

test('the timeline of a customer has everything that happened to it, in order, with links', async ({
  api,
  bill,
}) => {
  await bill('2026-01-01T00:00:00Z');
  const plan = await api.make('/v1/plans', { name: 'Pro' });
  const price = { entity_id: plan.id, currency: 'usd', amount: '100' };
  await api.make('/v1/prices', { ...price, invoice_cadence: 'ADVANCE' });
  const customer = await api.make('/v1/customers', { external_id: 'acme', name: 'Acme' });
  const other = await api.make('/v1/customers', { external_id: 'other' });
  const subscribe = (externalId: string) =>
    api.make('/v1/subscriptions', {
      external_customer_id: externalId,
      plan_id: plan.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: '2026-01-01T00:00:00Z',
    });
  const { id } = await subscribe('acme');
  await subscribe('other');
  await bill('2026-01-05T00:00:00Z');
  await api.call('POST', `/v1/subscriptions/${id}/pause`, {
    body: { pause_mode: 'immediate', pause_days: 10 },
  });
  await bill('2026-01-15T00:00:00Z');
  const path = `/v1/customers/${customer.id}/timeline`;
  const { body } = await api.call('GET', `${path}?limit=100`);
  const summaries = body.items.map((one: Answer) => one.summary);
  // Changes of one instant have no order among them.
  const byInstant = body.items.map(({ at, summary }: Answer) => `${at.slice(0, 10)} ${summary}`);
  expect(byInstant.toSorted()).toEqual([
    expect.stringMatching(/^2026-01-01 customer Acme: created/),
    expect.stringMatching(/^2026-01-01 invoice INV-202601-00001: finalize, DRAFT → FINALIZED, 100/),
    expect.stringMatching(/^2026-01-01 invoice: created, DRAFT, 100/),
    expect.stringMatching(/^2026-01-01 subscription line item Pro: created/),
    '2026-01-01 subscription: created, active',
    '2026-01-05 pause: created, active',
    '2026-01-05 subscription: pause, active → paused',
    '2026-01-15 pause: complete, active → completed',
    '2026-01-15 subscription: resume, paused → active',
  ]);
  const instants = body.items.map(({ at }: Answer) => at);
  expect(instants).toEqual(instants.toSorted());
  const linkOf = (type: string) =>
    body.items.find((one: Answer) => one.entity_type === type).link as string;
  expect([linkOf('subscription'), linkOf('pause')]).toEqual([
    `/v1/subscriptions/${id}`,
    `/v1/subscriptions/${id}`,
  ]);
  const invoice = await api.call('GET', linkOf('invoice'));
  expect(invoice.body.invoice_number).toBe('INV-202601-00001');
  expect(body.items.at(-1)).toMatchObject({ actor_kind: 'job', actor_name: 'bill-environment' });
  const second = await api.call('GET', `${path}?limit=2&offset=1`);
  expect(second.body).toEqual({
    items: body.items.slice(1, 3),
    pagination: { total: 9, limit: 2, offset: 1 },
  });
  const theirs = (await api.call('GET', `/v1/customers/${other.id}/timeline`)).body.items;
  expect(theirs.every((one: Answer) => !summaries.includes(one.id))).toBe(true);
  expect(theirs).toHaveLength(5);
  expect((await api.call('GET', '/v1/customers/cust_x/timeline')).status).toBe(404);
});

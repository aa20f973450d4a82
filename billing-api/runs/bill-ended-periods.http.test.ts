import { describe, expect } from 'vitest';
import type { Answer } from '../testing/money-test.js';
import { advance, arrear, test, type PeerCase } from '../testing/peer-case.js';

/** What was billed by the middle of March, as if the job had been on time. */
const BILLED = [
  '2026-01-01 2026-02-01 SUBSCRIPTION_CREATE 100.00',
  '2026-01-01 2026-02-01 SUBSCRIPTION_CYCLE 100.00',
  '2026-02-01 2026-03-01 SUBSCRIPTION_CYCLE 100.00',
];

/** Half of a month of 31 days is left. */
const MIDDLE = '2026-03-16T12:00:00Z';

/** A subscription of which no job has billed a period since January. */
async function neglected(peer: PeerCase): Promise<Answer> {
  await peer.turn('2026-01-01');
  const subscription = await peer.subscribe(await peer.plan(advance('100')));
  await peer.turn(MIDDLE);
  return subscription;
}

describe('a subscription whose ended periods were not billed yet', () => {
  test('changes its plan after they are', async ({ peer }) => {
    const old = await neglected(peer);
    const done = await peer.change(old, await peer.plan(advance('200')), {
      billing_cycle: 'calendar',
    });
    expect(done.proration_applied).toMatchObject({ net_amount: '50.00' });
    expect(await peer.invoices(old)).toEqual(BILLED);
    await peer.live('2026-04-02');
    expect(await peer.invoices(old)).toEqual(BILLED);
  });

  test('is paused after they are', async ({ peer }) => {
    const subscription = await neglected(peer);
    await peer.post(subscription, 'pause', { pause_mode: 'immediate', pause_days: 10 });
    expect(await peer.invoices(subscription)).toEqual(BILLED);
    const { subscription_status: status, current_period_end: end } = await peer.read(subscription);
    expect([status, end]).toEqual(['paused', '2026-04-01T00:00:00.000Z']);
  });

  test('gets another line item after they are', async ({ peer }) => {
    const subscription = await neglected(peer);
    const price = { type: 'FIXED', amount: '62', invoice_cadence: 'ADVANCE' };
    const inline = { billing_period: 'MONTHLY', billing_model: 'FLAT_FEE', currency: 'usd' };
    await peer.post(subscription, 'lineitems', { price: { ...price, ...inline } });
    expect(await peer.invoices(subscription)).toEqual(BILLED);
    await peer.live('2026-04-02');
    // Beside 100 for April: 62 for April, and 62 × 15.5 ÷ 31 days for the rest of March.
    const last = '2026-03-01 2026-04-01 SUBSCRIPTION_CYCLE 193.00';
    expect(await peer.invoices(subscription)).toEqual([...BILLED, last]);
  });

  test('is told from one that has none when the job is still to change its plan', async ({
    api,
    peer,
  }) => {
    await peer.turn('2026-01-01');
    const old = await peer.subscribe(await peer.plan(advance('100')));
    await peer.change(old, await peer.plan(advance('200')), { change_at: 'end_of_period' });
    await peer.turn(MIDDLE);
    const path = `/v1/subscriptions/${old.id}/cancel`;
    const { status, body } = await api.call('POST', path, { body: {} });
    expect([status, body.message]).toEqual([409, expect.stringContaining('is being billed')]);
  });
});

describe('a draft that waits while a line that it charges gets another price', () => {
  test('charges both at once, so that the final invoice of a change of plan leaves them out', async ({
    api,
    peer,
  }) => {
    await peer.turn('2026-01-01');
    const old = await peer.subscribe(await peer.plan(advance('100'), arrear('31')));
    await peer.live('2026-02-01T00:05:00Z');
    const draft = async (): Promise<Answer> => (await peer.find(old)).at(-1);
    expect(await draft()).toMatchObject({ invoice_status: 'DRAFT', total: '131.00' });
    await peer.turn('2026-02-01T00:10:00Z');
    const lines = (await peer.read(old)).line_items as Answer[];
    const inAdvance = lines.find((line) => line.invoice_cadence === 'ADVANCE');
    const body = { amount: '6720' };
    const path = `/v1/subscriptions/lineitems/${inAdvance.id}`;
    expect((await api.call('PUT', path, { body })).status).toBe(200);
    // 0.02 for ten minutes, 6,718.33 for the rest of 28 days, and 31.00 for January.
    expect(await draft()).toMatchObject({ invoice_status: 'DRAFT', total: '6749.35' });
    await peer.turn('2026-02-01T01:10:00Z');
    await peer.change(old, await peer.plan(advance('10')));
    await peer.live('2026-02-02');
    expect(await peer.invoices(old)).toEqual([
      '2026-01-01 2026-02-01 SUBSCRIPTION_CREATE 100.00',
      '2026-01-01 2026-02-01 SUBSCRIPTION_CYCLE 41.02',
      '2026-02-01 2026-02-01 SUBSCRIPTION_CYCLE 0.05',
    ]);
  });
});

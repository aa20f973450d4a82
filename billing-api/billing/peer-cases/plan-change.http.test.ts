import { describe, expect } from 'vitest';
import { advance, test, usage } from '../../testing/peer-case.js';

/** From which price to which, the period's start, the day of the change, and what it costs. */
type Changed = readonly [
  ...[id: string, from: string, to: string, start: string, at: string],
  ...[credit: string, charge: string, net: string],
];

/** Both plans keep the billing day, as these systems do: what is left of the period is charged. */
const SAME_DAY: readonly Changed[] = [
  ['FP-01: 10 to 20 on 15 March', '10', '20', '2024-03-01', '2024-03-15', '5.48', '10.97', '5.49'],
];

describe('a change of plan that keeps the billing day', () => {
  test.for(SAME_DAY)('%s', async ([, from, to, start, at, credit, charge, net], { peer }) => {
    await peer.live(start);
    const subscription = await peer.subscribe(await peer.plan(advance(from)), {
      billing_cycle: 'calendar',
    });
    const target = await peer.plan(advance(to));
    await peer.live(at);
    const done = await peer.change(subscription, target, { billing_cycle: 'calendar' });
    expect(done.proration_applied).toMatchObject({
      ...{ credit_amount: credit, charge_amount: charge, net_amount: net },
    });
    expect(done.invoice.total).toBe(net);
  });

  test('MT-06: only the usage price changes', async ({ peer }) => {
    await peer.live('2025-02-01');
    const calls = await peer.meter('call');
    const plan = await peer.plan(advance('10'), usage(calls, '0.10'));
    const old = await peer.subscribe(plan, { billing_cycle: 'calendar' });
    await peer.live('2025-02-15');
    await calls.use('2025-02-14T10:00:00Z', 500);
    const target = await peer.plan(advance('10'), usage(calls, '0.11'));
    const done = await peer.change(old, target, { billing_cycle: 'calendar' });
    expect(done.proration_applied.net_amount).toBe('0.00');
    await calls.use('2025-02-20T10:00:00Z', 800);
    await peer.live('2025-03-01T02:00:00Z');
    // The usage of each plan is on its own invoice: 50.00 and 98.00 are the 148.00.
    expect(await peer.invoices(old)).toEqual([
      '2025-02-01 2025-03-01 SUBSCRIPTION_CREATE 10.00',
      '2025-02-01 2025-02-15 SUBSCRIPTION_CYCLE 50.00',
    ]);
    expect(await peer.invoices(done.new_subscription)).toEqual([
      '2025-02-15 2025-03-01 SUBSCRIPTION_UPDATE 0.00',
      '2025-02-15 2025-03-01 SUBSCRIPTION_CYCLE 98.00',
    ]);
  });
});

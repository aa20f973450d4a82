import { describe, expect } from 'vitest';
import type { Answer } from '../../testing/money-test.js';
import { advance, arrear, instant, test, type PeerCase } from '../../testing/peer-case.js';

const DAY_MS = 86_400_000;

const dayAfter = (day: string): string =>
  new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10);
const dayBefore = (day: string): string =>
  new Date(Date.parse(day) - DAY_MS).toISOString().slice(0, 10);

/** The lines of all invoices of a subscription, drafts included. */
const linesOf = async (peer: PeerCase, subscription: Answer): Promise<readonly Answer[]> =>
  (await peer.find(subscription)).flatMap((one) => one.line_items);

describe('billing periods of other systems', () => {
  test('KB-11: anchor 31 over twelve renewals: a period is charged on its first day', async ({
    peer,
  }) => {
    await peer.live('2011-01-31');
    const subscription = await peer.subscribe(await peer.plan(advance('20')));
    const edges = [
      '2011-02-28',
      '2011-03-31',
      '2011-04-30',
      '2011-05-31',
      '2011-06-30',
      '2011-07-31',
      '2011-08-31',
      '2011-09-30',
      '2011-10-31',
      '2011-11-30',
      '2011-12-31',
      '2012-01-31',
    ];
    const counted: number[][] = [];
    for (const edge of edges) {
      const counts: number[] = [];
      for (const day of [dayBefore(edge), edge, dayAfter(edge)]) {
        await peer.live(day);
        counts.push((await linesOf(peer, subscription)).length);
      }
      counted.push(counts);
    }
    expect(counted).toEqual(edges.map((_edge, index) => [index + 1, index + 2, index + 2]));
    const starts = (await linesOf(peer, subscription)).map((one) => one.period_start.slice(0, 10));
    expect(starts).toEqual(['2011-01-31', ...edges]);
  });

  test.for([
    ['2012-07-16', '2012-09-15', 'MONTHLY', 1],
    ['2012-07-16', '2012-09-16', 'MONTHLY', 2],
    ['2012-07-16', '2012-07-29', 'WEEKLY', 1],
    ['2012-07-16', '2012-07-30', 'WEEKLY', 2],
  ] as const)(
    'KB-12: from %s to %s, %s: whole periods',
    async ([start, end, every, whole], { peer }) => {
      await peer.live(start);
      const plan = await peer.plan(arrear('10', { billing_period: every }));
      const subscription = await peer.subscribe(plan, {
        billing_period: every,
        end_date: instant(end),
      });
      await peer.live(dayAfter(end));
      const lines = await linesOf(peer, subscription);
      expect(lines.filter((one) => one.amount === '10.00')).toHaveLength(whole);
    },
  );

  test.for([
    ['2026-01-31', undefined, '2026-02-28'],
    ['2028-01-31', undefined, '2028-02-29'],
    ['2026-02-28', '2026-03-31', '2026-03-31'],
    ['2026-12-31', undefined, '2027-01-31'],
  ] as const)(
    'FP-26: a month from %s on (anchor %s) ends on %s',
    async ([start, anchor, end], { peer }) => {
      await peer.live(start);
      const subscription = await peer.subscribe(await peer.plan(advance('10')), {
        ...(anchor === undefined ? {} : { billing_anchor: instant(anchor) }),
      });
      expect(subscription.current_period_end).toBe(instant(end));
    },
  );
});

describe('time zones of other systems', () => {
  test('KB-49: monthly renewals through both clock changes', async ({ peer }) => {
    // The 1st of a month in Juneau begins at 08:00 UTC in summer and at 09:00 in winter.
    await peer.live('2015-09-01T08:00:00.000Z');
    const subscription = await peer.subscribe(await peer.plan(advance('249.95')), {
      customer_timezone: 'America/Juneau',
    });
    await peer.live('2016-08-02');
    const lines = await linesOf(peer, subscription);
    const starts = [
      '2015-09-01T08',
      '2015-10-01T08',
      '2015-11-01T08',
      '2015-12-01T09',
      '2016-01-01T09',
      '2016-02-01T09',
      '2016-03-01T09',
      '2016-04-01T08',
      '2016-05-01T08',
      '2016-06-01T08',
      '2016-07-01T08',
      '2016-08-01T08',
      '2016-09-01T08',
    ];
    expect(
      lines.map((one) => [one.amount, one.period_start.slice(0, 13), one.period_end.slice(0, 13)]),
    ).toEqual(starts.slice(0, -1).map((start, index) => ['249.95', start, starts[index + 1]]));
  });

  /** Both ends, the zone, and the days of a cancellation at the first one. */
  const DAYS = [
    // Where the case has 2: the clock loses an hour in between, so that a third local day begins.
    ['2024-03-09', '2024-03-11', 'America/New_York', 3],
    ['2024-11-02', '2024-11-04', 'America/New_York', 2],
    ['2024-07-15T12:30:00Z', '2024-07-16T08:15:00Z', 'Asia/Tokyo', 1],
    ['2024-04-06', '2024-04-08', 'Australia/Sydney', 2],
    ['2024-08-01T23:00:00Z', '2024-08-03T01:00:00Z', 'America/Los_Angeles', 2],
    // Where the case has 0: a day that has begun counts.
    ['2024-05-01T08:00:00Z', '2024-05-01T17:00:00Z', 'Europe/Berlin', 1],
    // From local midnight to local midnight all rules agree.
    ['2024-03-09T05:00:00Z', '2024-03-11T04:00:00Z', 'America/New_York', 2],
    ['2024-11-02T04:00:00Z', '2024-11-04T05:00:00Z', 'America/New_York', 2],
    ['2024-04-05T13:00:00Z', '2024-04-07T14:00:00Z', 'Australia/Sydney', 2],
  ] as const;

  test.for(DAYS)(
    'FP-04: from %s to %s in %s: local days that begin (23.4)',
    async ([at, end, zone, days], { peer }) => {
      const start = new Date(Date.parse(instant(at)) - 7 * DAY_MS).toISOString();
      await peer.live(start);
      const subscription = await peer.subscribe(await peer.plan(advance('100')), {
        customer_timezone: zone,
        end_date: instant(end),
      });
      await peer.live(at);
      const cancelled = await peer.post(subscription, 'cancel', {
        proration_behavior: 'create_prorations',
      });
      expect(cancelled.proration_details).toMatchObject([{ proration_days: days }]);
    },
  );
});

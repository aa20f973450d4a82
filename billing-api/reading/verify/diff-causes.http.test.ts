import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { COUNT_EVENTS } from '../../../contract/aggregation.js';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import { integerColumn } from '../../../sql/columns.js';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { completeBackfills } from '../../testing/finish-partition.js';
import type { Answer } from '../../testing/money-test.js';
import { advance, test as peerTest, usage, type PeerMeter } from '../../testing/peer-case.js';
import { storeEvents } from '../../testing/write-usage-minutes.js';

type Parties = {
  readonly api: BillingUnderTest;
  readonly subscription: Answer;
  readonly calls: PeerMeter;
  /** Counts the meter by another filter, by which October has 1 unit and November 3. */
  readonly recount: () => Promise<void>;
};

const SUM = { type: 'SUM', field: 'units' } as const;

const test = peerTest.extend<{ recount: (meter: PeerMeter) => Promise<void> }>({
  recount: async ({ api, database, clickhouse }, use) => {
    await use(async ({ id }) => {
      const filters = [{ key: 'region', values: ['eu'] }];
      const { status } = await api.call('PUT', `/v1/meters/${id}`, { body: { filters } });
      expect(status).toBe(200);
      await completeBackfills(database.database);
      const generation = await ownerOf(database.database).oneFirst(
        sql.type(z.object({ generation: integerColumn }))`
          SELECT generation FROM meter_versions WHERE meter_id = ${id}
          ORDER BY version DESC LIMIT 1`,
      );
      const { environment } = api;
      const aggregation = { ...COUNT_EVENTS, ...SUM };
      const countsOn = [{ environment, meterId: id, generation, aggregation }];
      const eventOf = (at: string, units: string) => ({
        at,
        eventName: 'call',
        properties: { units, region: 'eu' },
        countsOn,
      });
      await storeEvents({ database, clickhouse }, environment, [
        eventOf('2026-10-07T00:00:00Z', '1'),
        eventOf('2026-11-07T00:00:00Z', '3'),
      ]);
    });
  },
});

/** Lines as `name: old quantity → new; old amount → new; causes`, sums and their causes. */
type Shown = readonly [lines: readonly string[], totals: string, causes: readonly string[]];

const shownOf = ({ lines, totals, causes }: Answer): Shown => [
  lines.map((one: Answer) =>
    [
      `${one.display_name} ${one.change}: ${one.quantity_from} → ${one.quantity_to}`,
      `${one.amount_from} → ${one.amount_to}`,
      one.causes.join(' '),
    ].join('; '),
  ),
  `${totals.from} → ${totals.to}`,
  causes,
];

type Case = {
  readonly cause: string;
  readonly change: (parties: Parties) => Promise<unknown>;
  /** The draft of November, with 4 units of 1.00, and what it would compute to. */
  readonly draft: Shown;
  /** The voided invoice of October, with 2 units of 1.00, and its replacement. */
  readonly replaced: Shown;
};

const CASES: readonly Case[] = [
  {
    cause: 'late events',
    change: async ({ calls }) => {
      await calls.use('2026-10-06', '5');
      await calls.use('2026-11-06', '6');
    },
    draft: [['call changed: 4 → 10; 4.00 → 10.00; usage'], '4.00 → 10.00', []],
    replaced: [['call changed: 2 → 7; 2.00 → 7.00; usage'], '2.00 → 7.00', []],
  },
  {
    cause: 'a meter',
    change: ({ recount }) => recount(),
    draft: [['call changed: 4 → 3; 4.00 → 3.00; usage meter'], '4.00 → 3.00', []],
    replaced: [['call changed: 2 → 1; 2.00 → 1.00; usage meter'], '2.00 → 1.00', []],
  },
  {
    cause: 'an entitlement',
    change: async ({ api, subscription, calls }) => {
      const feature = await api.make('/v1/features', {
        name: 'Calls',
        type: 'metered',
        meter_id: calls.id,
      });
      await api.make('/v1/entitlements', {
        feature_id: feature.id,
        plan_id: subscription.plan_id,
        usage_limit: 1,
      });
    },
    draft: [['call changed: 4 → 4; 4.00 → 3.00; entitlement'], '4.00 → 3.00', []],
    replaced: [['call changed: 2 → 2; 2.00 → 1.00; entitlement'], '2.00 → 1.00', []],
  },
  {
    cause: 'a coupon',
    change: async ({ api, subscription }) => {
      await api.make('/v1/coupons', {
        name: 'Ten',
        coupon_code: 'TEN',
        type: 'percentage',
        percentage_off: '10',
        cadence: 'forever',
      });
      const add = [{ coupon_code: 'TEN', start_date: '2026-10-01T00:00:00Z' }];
      await api.make(`/v1/subscriptions/${subscription.id}/modify/execute`, {
        type: 'coupon',
        coupon_params: { add },
      });
    },
    draft: [['call changed: 4 → 4; 4.00 → 4.00; coupon'], '4.00 → 3.60', ['coupon']],
    replaced: [['call changed: 2 → 2; 2.00 → 2.00; coupon'], '2.00 → 1.80', ['coupon']],
  },
  {
    cause: 'a tax',
    change: async ({ api, subscription }) => {
      await api.make('/v1/taxes/rates', { name: 'VAT', code: 'vat', percentage_value: '20' });
      await api.make('/v1/taxes/associations', {
        tax_rate_code: 'vat',
        entity_type: 'subscription',
        entity_id: subscription.id,
      });
    },
    draft: [['call same: 4 → 4; 4.00 → 4.00; '], '4.00 → 4.80', ['tax']],
    replaced: [['call same: 2 → 2; 2.00 → 2.00; '], '2.00 → 2.40', ['tax']],
  },
];

test.for(CASES)(
  '$cause: a draft and what it would be now, and an invoice and its replacement (INV-9)',
  async ({ change, draft, replaced }, { api, peer, recount }) => {
    await peer.live('2026-10-01');
    const calls = await peer.meter('call');
    const subscription = await peer.subscribe(await peer.plan(usage(calls, '1')));
    await calls.use('2026-10-05', '2');
    await calls.use('2026-11-05', '4');
    await peer.live('2026-12-01T00:30:00Z');
    const [october, november] = await peer.find(subscription);
    expect([october.invoice_status, november.invoice_status]).toEqual(['FINALIZED', 'DRAFT']);
    const diff = async ({ id }: Answer) => (await api.call('GET', `/v1/invoices/${id}/diff`)).body;
    await api.make(`/v1/invoices/${october.id}/void`, {});
    await change({ api, subscription, calls, recount: () => recount(calls) });
    const now = await diff(november);
    expect([now.from, now.to, ...shownOf(now)]).toEqual([november.id, null, ...draft]);
    await api.call('POST', `/v1/invoices/${october.id}/recalculate`);
    await peer.live('2026-12-01T00:31:00Z');
    const { recalculated_invoice_id: id } = (await api.call('GET', `/v1/invoices/${october.id}`))
      .body;
    for (const asked of [october, { id }]) {
      const found = await diff(asked);
      expect([found.from, found.to, ...shownOf(found)]).toEqual([october.id, id, ...replaced]);
    }
    // A computation of the draft leaves no difference.
    await api.call('POST', `/v1/invoices/${november.id}/recompute`);
    expect((await diff(november)).lines.map((one: Answer) => one.change)).toEqual(['same']);
  },
);

describe('another price of a line', () => {
  const change = async (api: BillingUnderTest, subscription: Answer): Promise<void> => {
    const path = `/v1/subscriptions/lineitems/${subscription.line_items[0].id}`;
    const body = { amount: '120', effective_from: '2026-11-01T00:00:00Z' };
    expect((await api.call('PUT', path, { body })).status).toBe(200);
  };

  test('has the line that continues another one compared with it, of an invoice and its replacement', async ({
    api,
    peer,
  }) => {
    await peer.live('2026-10-01');
    const subscription = await peer.subscribe(await peer.plan(advance('100')));
    await peer.live('2026-11-01T02:00:00Z');
    const invoice = (await peer.find(subscription)).at(-1);
    await api.make(`/v1/invoices/${invoice.id}/void`, {});
    await change(api, subscription);
    await api.call('POST', `/v1/invoices/${invoice.id}/recalculate`);
    await peer.live('2026-11-01T02:00:01Z');
    const { body: found } = await api.call('GET', `/v1/invoices/${invoice.id}/diff`);
    expect(shownOf(found)).toEqual([
      ['Plan changed: 1 → 1; 100.00 → 120.00; price'],
      '100.00 → 120.00',
      [],
    ]);
  });

  test('is on a draft at once, so that it differs in nothing from what it would be now', async ({
    api,
    peer,
  }) => {
    await peer.live('2026-10-01');
    const subscription = await peer.subscribe(await peer.plan(advance('100')));
    await peer.live('2026-11-01T00:30:00Z');
    const draft = (await peer.find(subscription)).at(-1);
    await change(api, subscription);
    const { body: found } = await api.call('GET', `/v1/invoices/${draft.id}/diff`);
    expect(shownOf(found)).toEqual([
      ['Plan same: 1 → 1; 120.00 → 120.00; '],
      '120.00 → 120.00',
      [],
    ]);
  });
});

import { expect } from 'vitest';
import { drawSeed, givenSeed } from '../../../../harness/draw-seed.js';
import { withFreshClickHouse, withFreshDatabase } from '../../../../harness/fixtures.js';
import { createSeededRandom } from '../../../../harness/seeded-random.js';
import {
  withBillingApi,
  type BillingUnderTest,
} from '../../../../../billing-api/testing/billing-harness.js';
import { test } from '../../../../../billing-api/testing/billing-test.js';
import { expectBalancedBooks } from '../../../../../billing-api/testing/check-books.js';
import type { Engines } from '../../../../../billing-api/testing/write-usage-minutes.js';
import { drawGroup, lifeWrittenDown, type DrawnGroup } from './drawn-life.js';
import { ExpectedLife, type ExpectedInvoice } from './expected-life.js';
import { LiveGroup } from './live-group.js';
import { findStoreProblems } from './store-invariants.js';

/** 2,000 take a quarter of an hour or more: load-tests/proofs/pricing-oracle/README.md. */
const LIVES = Number(process.env['STORED_LIVES'] ?? '4');
const PER_GROUP = Math.min(LIVES, Number(process.env['STORED_LIVES_AT_ONCE'] ?? '25'));

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Answer = any;

/** Texts that must be equal: of the header, and of each line. */
function meant({ reason, isSkipped, priced }: ExpectedInvoice) {
  return {
    head: [reason, isSkipped ? 'SKIPPED' : 'FINALIZED', priced.periodStart, priced.periodEnd],
    lines: priced.lines.map((line) => [
      ...[line.periodStart, line.periodEnd, line.quantity],
      ...[line.adjustedEntitlementQuantity, line.amount, line.lineDiscount, line.invoiceDiscount],
    ]),
    coupons: priced.coupons.map(({ discount }) => discount),
    taxes: priced.taxes.map(({ amount }) => amount),
    totals: [
      ...[priced.totals.subtotal, priced.totals.totalDiscount, priced.totals.totalTax],
      priced.totals.total,
    ],
  };
}

function stored(invoice: Answer) {
  return {
    head: [
      ...[invoice.billing_reason, invoice.invoice_status],
      ...[invoice.period_start, invoice.period_end],
    ],
    lines: invoice.line_items.map((line: Answer) => [
      ...[line.period_start, line.period_end, line.quantity],
      ...[line.adjusted_entitlement_quantity, line.amount],
      ...[line.line_item_discount, line.invoice_level_discount],
    ]),
    coupons: invoice.coupon_applications.map((one: Answer) => one.discounted_amount),
    taxes: invoice.taxes.map((one: Answer) => one.tax_amount),
    totals: [...[invoice.subtotal, invoice.total_discount, invoice.total_tax, invoice.total]],
  };
}

const byPeriod = (a: { readonly head: string[] }, b: { readonly head: string[] }): number =>
  [2, 3, 0].map((at) => (a.head[at] ?? '').localeCompare(b.head[at] ?? '')).find((n) => n !== 0) ??
  0;

async function compareLife(
  api: BillingUnderTest,
  { id, expected, name }: { readonly id: string; readonly expected: ExpectedLife; name: string },
): Promise<number> {
  const { items } = await api.make('/v1/invoices/search', { subscription_id: id, limit: 200 });
  const final = items.filter((one: Answer) => one.invoice_status !== 'DRAFT');
  const whole: Answer[] = await Promise.all(
    final.map(async (one: Answer) => (await api.call('GET', `/v1/invoices/${one.id}`)).body),
  );
  const found = whole.map(stored).toSorted(byPeriod);
  expect({ name, invoices: found }).toEqual({
    ...{ name, invoices: expected.invoices.map(meant).toSorted(byPeriod) },
  });
  for (const { id: invoiceId, invoice_status: status } of whole) {
    if (status === 'SKIPPED') continue;
    const { body } = await api.call('GET', `/v1/invoices/${invoiceId}/verify`);
    const { same_from_inputs: inputs, same_from_events: events, differences } = body;
    expect([name, invoiceId, inputs, events, differences]).toEqual([
      ...[name, invoiceId, true, true, []],
    ]);
  }
  return whole.length;
}

/** A group on both sides. */
type Lived = {
  readonly group: DrawnGroup;
  readonly live: LiveGroup;
  readonly expected: Map<number, ExpectedLife>;
};

/** Makes the subscriptions whose start the clock has reached. */
async function beginLives({ group, live, expected }: Lived, now: number): Promise<void> {
  for (const [place, life] of group.lives.entries()) {
    if (life.start > now || expected.has(place)) continue;
    await live.begin(place, life);
    const one = new ExpectedLife(lifeWrittenDown(life, group), life);
    one.open(now);
    expected.set(place, one);
  }
}

/** Pauses, resumes or ends the subscriptions of which that was drawn for this step. */
async function act({ group, live, expected }: Lived, step: number, now: number): Promise<void> {
  for (const [place, life] of group.lives.entries()) {
    const one = expected.get(place);
    const action = life.actions.find((each) => each.step === step);
    if (one === undefined || action === undefined || !one.canNow(action.type, now)) continue;
    await live.act(place, action.type);
    one[action.type](now);
  }
}

/** Turns the clock step by step, and does on both sides what is due. */
async function liveOn(lived: Lived): Promise<void> {
  const { group, live, expected } = lived;
  let before = -Infinity;
  for (const [step, now] of group.steps.entries()) {
    await live.store(before, now);
    await live.turnTo(now);
    await beginLives(lived, now);
    await live.turnTo(now);
    for (const one of expected.values()) one.turnTo(now);
    await live.lookAtThresholds();
    for (const one of expected.values()) one.lookAtThreshold(now);
    await act(lived, step, now);
    before = now;
  }
}

/** Lets a group live, and compares what is stored. @returns the numbers of what was compared. */
async function liveAndCompare(api: BillingUnderTest, engines: Engines, seed: number) {
  const group = drawGroup(createSeededRandom(seed), PER_GROUP);
  const live = new LiveGroup(api, engines, group);
  const expected = new Map<number, ExpectedLife>();
  await live.prepare();
  await liveOn({ group, live, expected });
  let invoices = 0;
  for (const [place, one] of expected) {
    const id = live.ids.get(place) ?? '';
    invoices += await compareLife(api, { id, expected: one, name: `seed ${seed}, life ${place}` });
  }
  const problems = await findStoreProblems(engines.database.database);
  expect({ seed, problems }).toEqual({ seed, problems: [] });
  await expectBalancedBooks(api);
  return { invoices, lives: expected.size };
}

/** The few lives of `npm test` are always the same ones; more of them are new each time. */
const firstSeed = LIVES > 4 ? drawSeed() : (givenSeed() ?? 921_040_831);

test(
  `invoices that the jobs store over two years are the oracle's, to the cent, from seed ${firstSeed} on`,
  { timeout: 7_200_000 },
  async ({ clickhouseDatabases }) => {
    let [lives, invoices] = [0, 0];
    for (let seed = firstSeed; lives < LIVES; seed += 1) {
      await withFreshDatabase((database) =>
        withFreshClickHouse(clickhouseDatabases, (clickhouse) =>
          withBillingApi(
            { database: database.database, clickhouse: clickhouse.client },
            async (api) => {
              const done = await liveAndCompare(api, { database, clickhouse }, seed);
              lives += done.lives;
              invoices += done.invoices;
            },
          ),
        ),
      );
      if (LIVES > 25) console.log(`${lives} subscriptions, ${invoices} invoices`);
    }
  },
);

import { expect, inject } from 'vitest';
import { drawSeed, givenSeed } from '../../../../harness/draw-seed.js';
import { withFreshClickHouse, withFreshDatabase } from '../../../../harness/fixtures.js';
import type { ClickHouseDatabases } from '../../../../harness/clickhouse-databases.js';
import { assertPresent, DependencyError } from '../../../../../runtime/failure.js';
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

/** 2,000 take most of an hour: load-tests/proofs/pricing-oracle/README.md. */
const LIVES = Number(process.env['STORED_LIVES'] ?? (inject('isNightly') ? '200' : '4'));
const PER_GROUP = Math.min(LIVES, Number(process.env['STORED_LIVES_AT_ONCE'] ?? '40'));
/** Groups that live side by side, each in stores of its own: one waits while another computes. */
const GROUPS_AT_ONCE = 2;

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Answer = any;

/** Texts that must be equal: of the header, and of each line. */
function meant({ reason, isSkipped, priced }: ExpectedInvoice) {
  return {
    head: [reason, isSkipped ? 'SKIPPED' : 'FINALIZED', priced.periodStart, priced.periodEnd],
    lines: priced.lines.map((line) => [
      line.periodStart,
      line.periodEnd,
      line.quantity,
      line.adjustedEntitlementQuantity,
      line.amount,
      line.lineDiscount,
      line.invoiceDiscount,
    ]),
    coupons: priced.coupons.map(({ discount }) => discount),
    taxes: priced.taxes.map(({ amount }) => amount),
    totals: [
      priced.totals.subtotal,
      priced.totals.totalDiscount,
      priced.totals.totalTax,
      priced.totals.totalPrepaidCredits,
      priced.totals.total,
    ],
  };
}

function stored(invoice: Answer) {
  return {
    head: [
      invoice.billing_reason,
      invoice.invoice_status,
      invoice.period_start,
      invoice.period_end,
    ],
    lines: invoice.line_items.map((line: Answer) => [
      line.period_start,
      line.period_end,
      line.quantity,
      line.adjusted_entitlement_quantity,
      line.amount,
      line.line_item_discount,
      line.invoice_level_discount,
    ]),
    coupons: invoice.coupon_applications.map((one: Answer) => one.discounted_amount),
    taxes: invoice.taxes.map((one: Answer) => one.tax_amount),
    totals: [
      invoice.subtotal,
      invoice.total_discount,
      invoice.total_tax,
      invoice.total_prepaid_credits_applied,
      invoice.total,
    ],
  };
}

type Texts = ReturnType<typeof meant>;

/** What an invoice is for; no two of a subscription are for the same. */
const purposeOf = ({ head: [reason, , start, end] }: Texts): string => `${reason} ${start} ${end}`;

/** Invoices that are not as they should be, or not there, or should not be there; in words. */
function differencesOf(found: readonly Texts[], wanted: readonly Texts[]): readonly string[] {
  const is = new Map(found.map((one) => [purposeOf(one), JSON.stringify(one)]));
  const should = new Map(wanted.map((one) => [purposeOf(one), JSON.stringify(one)]));
  const isCountRight = is.size === found.length && found.length === wanted.length;
  return [
    ...(isCountRight ? [] : [`${found.length} invoices, should be ${wanted.length}`]),
    ...[...new Set([...is.keys(), ...should.keys()])]
      .filter((purpose) => is.get(purpose) !== should.get(purpose))
      .map((purpose) => `is ${is.get(purpose)}, should be ${should.get(purpose)}`),
  ];
}

/** What is not the same when an invoice is computed again, from its inputs and from raw events. */
async function verifyInvoice(api: BillingUnderTest, id: string): Promise<readonly string[]> {
  const { body } = await api.call('GET', `/v1/invoices/${id}/verify`);
  const isSame = body.same_from_inputs === true && body.same_from_events === true;
  return isSame ? [] : [`${id} is not verified: ${JSON.stringify(body)}`];
}

/** What one life left: its invoices counted, and what differs in words. */
type Compared = { readonly invoices: number; readonly problems: readonly string[] };

/** Every invoice of a life, and one of them verified, each time another one. */
async function compareLife(
  api: BillingUnderTest,
  { live, place, expected }: { live: LiveGroup; place: number; expected: ExpectedLife },
): Promise<Compared> {
  const body = { subscription_id: live.ids.get(place), limit: 200 };
  const { items } = await api.make('/v1/invoices/search', body);
  const final = items.filter((one: Answer) => one.invoice_status !== 'DRAFT');
  const whole: Answer[] = await Promise.all(
    final.map(async (one: Answer) => (await api.call('GET', `/v1/invoices/${one.id}`)).body),
  );
  const problems = differencesOf(whole.map(stored), expected.invoices.map(meant));
  const charged = whole.filter((one) => one.invoice_status === 'FINALIZED');
  const verified = charged[place % charged.length];
  const again = verified === undefined ? [] : await verifyInvoice(api, verified.id);
  return { invoices: whole.length, problems: [...problems, ...again] };
}

/** A group on both sides. */
type Lived = {
  readonly group: DrawnGroup;
  readonly live: LiveGroup;
  readonly expected: Map<number, ExpectedLife>;
};

/** Makes the subscriptions whose start the clock has reached. @returns whether there is one. */
async function beginLives({ group, live, expected }: Lived, now: number): Promise<boolean> {
  const before = expected.size;
  for (const [place, life] of group.lives.entries()) {
    if (life.start > now || expected.has(place)) continue;
    await live.begin(place, life);
    const one = new ExpectedLife(lifeWrittenDown(life, group), life);
    one.open(now);
    expected.set(place, one);
  }
  return expected.size > before;
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

/** Steps of the clock from one look for thresholds to the next. */
const LOOKS_EVERY = 3;

/** Turns the clock step by step, and does on both sides what is due. */
async function liveOn(lived: Lived): Promise<void> {
  const { group, live, expected } = lived;
  let before = -Infinity;
  for (const [step, now] of group.steps.entries()) {
    await live.store(before, now);
    await live.turnTo(now);
    if (await beginLives(lived, now)) await live.turnTo(now);
    for (const one of expected.values()) one.turnTo(now);
    // Each look computes every running period that has a threshold.
    if (step % LOOKS_EVERY === 0) {
      await live.lookAtThresholds();
      for (const one of expected.values()) one.lookAtThreshold(now);
    }
    await act(lived, step, now);
    before = now;
  }
}

/** What a group left: counts of what was compared, and what differs in words. */
type Left = Compared & { readonly lives: number };

/** Lets a group live, and compares what is stored. */
async function liveAndCompare(
  api: BillingUnderTest,
  engines: Engines,
  seed: number,
): Promise<Left> {
  const group = drawGroup(createSeededRandom(seed), PER_GROUP);
  const live = new LiveGroup(api, engines, group);
  const expected = new Map<number, ExpectedLife>();
  await live.prepare();
  await liveOn({ group, live, expected });
  let invoices = 0;
  const problems: string[] = [];
  for (const [place, one] of expected) {
    const compared = await compareLife(api, { live, place, expected: one });
    invoices += compared.invoices;
    problems.push(...compared.problems.map((text) => `seed ${seed}, life ${place}: ${text}`));
  }
  problems.push(...(await findStoreProblems(engines.database.database)));
  await expectBalancedBooks(api);
  return { invoices, lives: expected.size, problems };
}

/** The few lives of `npm test` are always the same ones; more of them are new each time. */
const firstSeed = LIVES > 4 ? drawSeed() : (givenSeed() ?? 921_040_831);

/** Lets one group live in fresh stores. */
async function liveInFreshStores(databases: ClickHouseDatabases, seed: number): Promise<Left> {
  const left: Left[] = [];
  await withFreshDatabase((database) =>
    withFreshClickHouse(databases, (clickhouse) =>
      withBillingApi(
        { database: database.database, clickhouse: clickhouse.client },
        async (api) => void left.push(await liveAndCompare(api, { database, clickhouse }, seed)),
      ),
    ),
  );
  return assertPresent(left[0], 'what a group left');
}

test(
  `invoices that the jobs store over two years are the oracle's, to the cent, from seed ${firstSeed} on`,
  { timeout: 7_200_000 },
  async ({ clickhouseDatabases }) => {
    let [lives, invoices, groups] = [0, 0, 0];
    const found: string[] = [];
    const liveInTurn = async (): Promise<void> => {
      while (groups * PER_GROUP < LIVES) {
        const seed = firstSeed + groups;
        groups += 1;
        const live = (): Promise<Left> => liveInFreshStores(clickhouseDatabases, seed);
        const done = await live().catch((error: unknown) => {
          // On a busy machine a connection to an engine can be lost: the group begins anew.
          if (error instanceof DependencyError) return live();
          throw error;
        });
        lives += done.lives;
        invoices += done.invoices;
        found.push(...done.problems);
        if (LIVES <= PER_GROUP) continue;
        console.log(`seed ${seed}: ${lives} lives, ${invoices} invoices, ${found.length} problems`);
        for (const problem of done.problems.slice(0, 5)) console.log(problem);
      }
    };
    await Promise.all(Array.from({ length: LIVES > PER_GROUP ? GROUPS_AT_ONCE : 1 }, liveInTurn));
    expect(found).toEqual([]);
  },
);

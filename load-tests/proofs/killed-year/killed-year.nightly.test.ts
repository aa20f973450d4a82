import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { drawSeed } from '../../harness/draw-seed.js';
import { test } from '../../../billing-api/testing/billed-test.js';
import type { BillingUnderTest } from '../../../billing-api/testing/billing-harness.js';
import { expectBalancedBooks } from '../../../billing-api/testing/check-books.js';
import { countOf, killAgainAndAgain } from '../../../billing-api/testing/kill-workers.js';
import { setEnvironmentType } from '../../../billing-api/testing/set-test-clock.js';

/** Two thousand take hours: load-tests/README.md says how. */
const SUBSCRIPTIONS = Number(process.env['LIVED_SUBSCRIPTIONS'] ?? '50');
const DAYS = Number(process.env['LIVED_DAYS'] ?? '365');
const WORKERS = 2;
const START = Date.parse('2027-01-01T00:00:00.000Z');
const DAY_MS = 24 * 3_600_000;

const iso = (at: number): string => new Date(at).toISOString();

/** What makes each seventh life another one. */
const KINDS: readonly object[] = [
  {},
  { billing_cycle: 'calendar', proration_behavior: 'create_prorations' },
  { trial_period_days: 14 },
  { customer_timezone: 'America/New_York' },
  { end_date: iso(START + 80 * DAY_MS) },
  { payment_terms: '15 NET' },
];

/** What happens to some lives after they have begun, at the end of their first period. */
const LATER: readonly (readonly [string, object])[] = [
  ['pause', { pause_mode: 'period_end', pause_days: 10 }],
  ['cancel', { cancellation_type: 'scheduled_date', cancel_at: iso(START + 70 * DAY_MS) }],
];

async function subscribeAll(api: BillingUnderTest): Promise<void> {
  const plan = await api.make('/v1/plans', { name: 'Pro' });
  const price = { entity_id: plan.id, currency: 'usd', start_date: iso(START) };
  await api.make('/v1/prices', { ...price, amount: '100', invoice_cadence: 'ARREAR' });
  await api.make('/v1/prices', { ...price, amount: '30', invoice_cadence: 'ADVANCE' });
  const numbers = Array.from({ length: SUBSCRIPTIONS }, (_, number) => number);
  const subscribe = async (number: number): Promise<void> => {
    const customer = await api.make('/v1/customers', { external_id: `c${number}` });
    const made = await api.make('/v1/subscriptions', {
      customer_id: customer.id,
      plan_id: plan.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: iso(START + (number % 7) * DAY_MS),
      ...KINDS[number % KINDS.length],
    });
    const later = LATER[number % 10];
    if (later === undefined || made.subscription_status !== 'active') return;
    const [what, body] = later;
    const { status } = await api.call('POST', `/v1/subscriptions/${made.id}/${what}`, { body });
    expect([what, status]).toEqual([what, 200]);
  };
  while (numbers.length > 0) await Promise.all(numbers.splice(0, 8).map(subscribe));
}

/** What must not be there, by the rows that show it. */
const PROBLEMS = {
  'a period that has ended has no invoice, or more than one': sql.fragment`(
    SELECT period.subscription_id FROM subscription_periods AS period
    JOIN subscriptions AS subscription ON subscription.id = period.subscription_id
    LEFT JOIN invoices AS invoice ON invoice.subscription_id = period.subscription_id
      AND invoice.period_start = period.period_start AND invoice.period_end = period.period_end
      AND invoice.billing_reason = 'SUBSCRIPTION_CYCLE' AND invoice.invoice_status <> 'VOIDED'
    WHERE period.kind <> 'trial'
      AND period.period_end <= (SELECT now FROM test_clocks)
    GROUP BY period.subscription_id, period.period_index HAVING count(invoice.id) <> 1) AS found`,
  'an invoice closes no period': sql.fragment`(
    SELECT invoice.id FROM invoices AS invoice
    LEFT JOIN subscription_periods AS period ON invoice.subscription_id = period.subscription_id
      AND invoice.period_start = period.period_start AND invoice.period_end = period.period_end
    WHERE invoice.billing_reason = 'SUBSCRIPTION_CYCLE' AND period.period_index IS NULL) AS found`,
  'a subscription is not where its clock is': sql.fragment`(
    SELECT id FROM subscriptions WHERE subscription_status <> 'cancelled'
      AND current_period_end <= (SELECT now FROM test_clocks)) AS found`,
  'a number is missing or used twice in its series': sql.fragment`(
    SELECT substring(invoice_number from '^.*-') AS series FROM invoices
    WHERE invoice_number IS NOT NULL GROUP BY 1
    HAVING count(*) <> max(substring(invoice_number from '[0-9]+$')::int)
      OR count(DISTINCT invoice_number) <> count(*)) AS found`,
  'a finalized invoice is not announced exactly once': sql.fragment`(
    SELECT invoice.id FROM invoices AS invoice LEFT JOIN system_events AS event
      ON event.entity_id = invoice.id AND event.event_name = 'invoice.update.finalized'
    WHERE invoice.invoice_status = 'FINALIZED'
    GROUP BY invoice.id HAVING count(event.id) <> 1) AS found`,
  'a line is billed twice': sql.fragment`(
    SELECT subscription_line_item_id FROM invoice_line_items
    GROUP BY subscription_line_item_id, price_id, period_start HAVING count(*) > 1) AS found`,
  'a job is parked': sql.fragment`jobs WHERE status = 'parked'`,
} as const;

describe('a test clock that goes on while its workers are killed', () => {
  const seed = drawSeed();

  test(
    `leaves one invoice for each period of each life, and nothing parked: seed ${seed}`,
    { timeout: 7_200_000 },
    async ({ api, database, clickhouse }) => {
      await setEnvironmentType(database.database, api.environment, 'development');
      const clock = await api.make('/v1/test_clocks', { now: iso(START) });
      await subscribeAll(api);
      const path = `/v1/test_clocks/${clock.id}`;
      const began = performance.now();
      const body = { now: iso(START + DAYS * DAY_MS) };
      expect((await api.call('POST', `${path}/advance`, { body })).status).toBe(202);
      const isDone = async (): Promise<boolean> => {
        const { status, failure_reason: reason } = (await api.call('GET', path)).body;
        expect(reason).toBeNull();
        return status === 'ready';
      };
      const engines = { databaseUrl: database.url, clickHouseUrl: clickhouse.url };
      const pauseMs = [500, 4_000] as const;
      const kills = await killAgainAndAgain(engines, { seed, workers: WORKERS, pauseMs, isDone });
      const seconds = Math.round((performance.now() - began) / 1_000);
      for (const [problem, rows] of Object.entries(PROBLEMS)) {
        expect([problem, await countOf(database.database, rows)]).toEqual([problem, 0]);
      }
      await expectBalancedBooks(api);
      const invoices = await countOf(database.database, sql.fragment`invoices`);
      expect(kills).toBeGreaterThan(0);
      // The figures are what a long run is for.
      console.log(
        `${SUBSCRIPTIONS} lives of ${DAYS} days: ${invoices} invoices in ${seconds} s, ${kills} kills`,
      );
    },
  );
});

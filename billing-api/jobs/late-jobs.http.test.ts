import { describe, expect, it } from 'vitest';
import { readRules, sectionOf } from '../../load-tests/harness/pages.js';
import { mustGet } from '../../runtime/failure.js';
import type { Job } from '../../sql/jobs/job.js';
import type { Schedule } from '../../sql/jobs/schedule.js';
import { billingNeeds, billingRunner } from '../testing/bill-environment.js';
import { lifeOf, test, type World } from '../testing/clocked-lives.js';
import type { BillingUnderTest } from '../testing/billing-harness.js';
import { cardOf, KEY } from '../testing/gateway-test.js';
import { makeInvoice, type Answer } from '../testing/money-test.js';
import { setTestClock } from '../testing/set-test-clock.js';
import { startReceiver, type Receiver } from '../testing/webhook-receiver.js';
import { BILLING_JOBS } from './billing-jobs.js';
import type { JobNeeds } from './job-needs.js';

const MONTH_1 = '2027-02-01T00:00:00.000Z';
/** When the jobs run for the first time. */
const LATE = '2027-04-05T00:00:00.000Z';

/** What is due is made by `prepare`; `look` shows what there is when it was done. */
type Row = {
  /** As the table of docs/domain.md 32 names it. */
  readonly what: string;
  readonly prepare: (api: BillingUnderTest, world: Lived) => Promise<void>;
  /** What happens before its job runs and after others have; nothing when absent. */
  readonly before?: Row['prepare'];
  readonly look: (api: BillingUnderTest, world: Lived) => Promise<unknown>;
  readonly done: unknown;
};

type Lived = World & { readonly receiver: Receiver };

async function subscriptionsOf(api: BillingUnderTest, name: string): Promise<Answer[]> {
  const query = { external_customer_id: name, limit: 100 };
  const { items } = await api.make('/v1/subscriptions/search', query);
  return items.sort((a: Answer, b: Answer) => a.start_date.localeCompare(b.start_date));
}

async function invoicesOf(api: BillingUnderTest, name: string): Promise<Answer[]> {
  const query = { external_customer_id: name, limit: 100 };
  const { items } = await api.make('/v1/invoices/search', query);
  return items.sort((a: Answer, b: Answer) => a.billing_sequence - b.billing_sequence);
}

const invoiceText = (one: Answer): string =>
  [one.billing_reason, one.period_end.slice(0, 10), one.invoice_status, one.total].join(' ');

/** The invoices of a customer, in their order. */
const invoicesFor =
  (name: string): Row['look'] =>
  async (api) =>
    (await invoicesOf(api, name)).map(invoiceText);

const stateText = (one: Answer): string =>
  [one.subscription_status, one.current_period_start, one.current_period_end].join(' ');

const statesFor =
  (name: string): Row['look'] =>
  async (api) =>
    (await subscriptionsOf(api, name)).map(stateText);

/** How often something was told of what belongs to a customer. */
const toldOf =
  (name: string, event: string): Row['look'] =>
  async (api) => {
    const { body } = await api.call('GET', `/v1/webhooks/events?limit=1000&event_type=${event}`);
    const subscriptions = await subscriptionsOf(api, name);
    const ids = [...subscriptions, ...(await invoicesOf(api, name))].map(({ id }) => id as string);
    const own = body.items.filter((one: Answer) =>
      ids.some((id) => JSON.stringify(one.payload).includes(id)),
    );
    return own.map((one: Answer) => one.created_at);
  };

const creditsOf =
  (name: string): Row['look'] =>
  async (api) => {
    const { items: wallets } = await api.make('/v1/wallets/search', { external_customer_id: name });
    const query = { wallet_id: wallets[0].id, limit: 100 };
    const { items } = await api.make('/v1/wallets/transactions/search', query);
    return items
      .map((one: Answer) => [one.type, one.transaction_reason, one.credit_amount].join(' '))
      .sort();
  };

const subscribed =
  (name: string, members: object = {}): Row['prepare'] =>
  async (_api, { subscribe }) => {
    await subscribe(name, { payment_terms: '60 NET', ...members });
  };

const byCard = {
  collection_method: 'charge_automatically',
  gateway_payment_method_id: 'pm_card_chargeDeclined',
};

/** Every row of the table of docs/domain.md 32. */
const ROWS: readonly Row[] = [
  {
    what: 'billing periods of subscriptions',
    prepare: subscribed('north'),
    look: invoicesFor('north'),
    done: [
      'SUBSCRIPTION_CREATE 2027-02-01 FINALIZED 100.00',
      'SUBSCRIPTION_CYCLE 2027-02-01 FINALIZED 100.00',
      'SUBSCRIPTION_CYCLE 2027-03-01 FINALIZED 100.00',
      'SUBSCRIPTION_CYCLE 2027-04-01 FINALIZED 100.00',
    ],
  },
  {
    what: 'due schedules',
    prepare: async (api, { subscribe, targetId }) => {
      const { id } = await subscribe('south', { payment_terms: '60 NET' });
      const change = { target_plan_id: targetId, billing_cadence: 'RECURRING' };
      await api.make(`/v1/subscriptions/${id}/change/execute`, {
        ...change,
        billing_cycle: 'anniversary',
        billing_period: 'MONTHLY',
        billing_period_count: 1,
        proration_behavior: 'create_prorations',
        change_at: 'end_of_period',
      });
    },
    look: statesFor('south'),
    // The old one is archived.
    done: ['active 2027-04-01T00:00:00.000Z 2027-05-01T00:00:00.000Z'],
  },
  {
    what: 'pauses',
    prepare: async (api, { subscribe }) => {
      const { id } = await subscribe('west', { payment_terms: '60 NET' });
      await api.make(`/v1/subscriptions/${id}/pause`, {
        pause_mode: 'scheduled',
        pause_start: '2027-02-20T10:00:00Z',
        pause_days: 17,
      });
    },
    look: statesFor('west'),
    // The period that would have ended on 1 March, and with it all that follow.
    done: ['active 2027-03-18T00:00:00.000Z 2027-04-18T00:00:00.000Z'],
  },
  {
    what: 'trial end',
    prepare: subscribed('trial', { trial_period_days: 20 }),
    look: invoicesFor('trial'),
    done: [
      'SUBSCRIPTION_TRIAL_START 2027-01-21 FINALIZED 0.00',
      'SUBSCRIPTION_TRIAL_END 2027-02-21 FINALIZED 100.00',
      'SUBSCRIPTION_CYCLE 2027-02-21 FINALIZED 100.00',
      'SUBSCRIPTION_CYCLE 2027-03-21 FINALIZED 100.00',
    ],
  },
  {
    what: 'beginning of phases',
    prepare: subscribed('phased', {
      phases: [
        { start_date: '2027-01-01T00:00:00Z', end_date: '2027-02-10T00:00:00Z' },
        { start_date: '2027-02-10T00:00:00Z', end_date: '2027-03-10T00:00:00Z' },
        { start_date: '2027-03-10T00:00:00Z' },
      ],
    }),
    look: toldOf('phased', 'subscription.phase.updated'),
    // The first one began with the subscription.
    done: [LATE, LATE],
  },
  {
    what: 'credit grants',
    prepare: subscribed('busy', {
      credit_grants: [
        {
          name: 'Monthly',
          credits: '15',
          cadence: 'RECURRING',
          period: 'MONTHLY',
          period_count: 1,
          expiration_type: 'NEVER',
        },
      ],
    }),
    look: creditsOf('busy'),
    done: Array.from({ length: 4 }, () => 'credit SUBSCRIPTION_CREDIT_GRANT 15'),
  },
  {
    what: 'auto-cancel',
    prepare: async (api, world) => {
      await api.call('PUT', '/v1/settings/subscription_auto_cancel', {
        body: { value: { enabled: true, grace_period_days: 40 } },
      });
      await subscribed('leaving', { payment_terms: '15 NET' })(api, world);
    },
    look: async (api) => {
      const [one] = await subscriptionsOf(api, 'leaving');
      return [one.subscription_status, one.cancelled_at];
    },
    done: ['cancelled', LATE],
  },
  {
    what: 'wallet expiry',
    prepare: async (api) => {
      await api.make('/v1/wallets', {
        external_customer_id: 'idle',
        currency: 'usd',
        initial_credits_to_load: '40',
        initial_credits_expiry_date_utc: '2027-02-14T00:00:00Z',
      });
    },
    look: creditsOf('idle'),
    done: ['credit FREE_CREDIT_GRANT 40', 'debit CREDIT_EXPIRED 40'],
  },
  {
    what: 'automatic top-ups',
    prepare: async (api) => {
      await api.make('/v1/wallets', {
        external_customer_id: 'prepaid',
        currency: 'usd',
        initial_credits_to_load: '30',
        initial_credits_expiry_date_utc: '2027-02-14T00:00:00Z',
        auto_topup: { enabled: true, threshold: '20', amount: '90' },
      });
    },
    look: creditsOf('prepaid'),
    done: ['credit FREE_CREDIT_GRANT 30', 'credit FREE_CREDIT_GRANT 90', 'debit CREDIT_EXPIRED 30'],
  },
  {
    what: 'renewal notices',
    prepare: subscribed('dated', { start_date: '2027-01-05T12:00:00Z' }),
    look: toldOf('dated', 'subscription.renewal.due'),
    // Of the period that ends on 5 April, and not of those that have ended.
    done: [LATE],
  },
  {
    what: 'overdue invoices',
    prepare: subscribed('holding', { payment_terms: '45 NET' }),
    look: toldOf('holding', 'invoice.payment.overdue'),
    // The opening invoice and that of January, which were due 45 days after 1 February.
    done: [LATE, LATE],
  },
  {
    what: 'declined charges',
    prepare: subscribed('declined', { ...byCard, end_date: MONTH_1 }),
    look: async (api) => {
      const [opening] = await invoicesOf(api, 'declined');
      const path = `/v1/payments?destination_id=${opening.id}&limit=100`;
      const { body } = await api.call('GET', path);
      return body.items.map((one: Answer) => [one.payment_status, one.created_at]).sort();
    },
    done: [
      ['FAILED', '2027-01-01T00:00:00.000Z'],
      ['FAILED', LATE],
    ],
  },
  {
    what: 'finalization of drafts',
    prepare: subscribed('island', { start_date: '2027-03-04T22:30:00Z' }),
    look: invoicesFor('island'),
    // Its delay of two hours is over by half an hour on 5 April, 01:00, only.
    done: [
      'SUBSCRIPTION_CREATE 2027-04-04 FINALIZED 100.00',
      'SUBSCRIPTION_CYCLE 2027-04-04 DRAFT 100.00',
    ],
  },
  {
    what: 'system events to endpoints',
    prepare: async (api, { receiver }) => {
      await api.make('/v1/webhooks/endpoints', { url: receiver.url });
    },
    look: async (api, { receiver }) => {
      const { items } = (await api.call('GET', '/v1/webhooks/events?limit=1000')).body;
      const ids = items.map((one: Answer) => one.id);
      const happened = items.filter((one: Answer) => one.created_at === LATE).length;
      const received = receiver.received.map(({ headers }) => headers['webhook-id']);
      // All that has happened since there is an endpoint, in its order.
      const isAll = received.length > happened && happened > 20;
      return [isAll, received.join() === ids.slice(-received.length).join()];
    },
    done: [true, true],
  },
  {
    what: 'threshold invoices',
    prepare: async (api, world) => {
      const start = { start_date: '2027-03-10T00:00:00Z', auto_invoice_threshold: '50' };
      await subscribed('card', start)(api, world);
      await world.use('card', '2027-04-01T00:00:00Z', 30);
    },
    look: invoicesFor('card'),
    done: [
      'SUBSCRIPTION_CREATE 2027-04-10 FINALIZED 100.00',
      'AUTO_INVOICE_THRESHOLD 2027-04-05 FINALIZED 60.00',
    ],
  },
  {
    what: 'recomputation of all drafts',
    prepare: async () => {},
    before: (_api, { use }) => use('island', '2027-04-01T00:00:00Z', 4),
    look: invoicesFor('island'),
    done: [
      'SUBSCRIPTION_CREATE 2027-04-04 FINALIZED 100.00',
      'SUBSCRIPTION_CYCLE 2027-04-04 DRAFT 108.00',
    ],
  },
  {
    what: 'signals of the gateway that were lost',
    prepare: async (api) => {
      const slow = { payment_method_id: 'pm_slow' };
      await api.make('/v1/payments', cardOf(await makeInvoice(api, '77.00'), slow));
    },
    before: (_api, { stripe }) => {
      const slow = [...stripe.intents.values()].filter(({ status }) => status === 'processing');
      slow.forEach((intent) => Object.assign(intent, { status: 'succeeded', captures: 1 }));
      return Promise.resolve();
    },
    look: async (api) => {
      const { body } = await api.call('GET', '/v1/payments?limit=100');
      const slow = body.items.filter((one: Answer) => one.payment_method_id === 'pm_slow');
      return slow.map((one: Answer) => [one.payment_status, one.succeeded_at]);
    },
    done: [['SUCCEEDED', LATE]],
  },
];

/** Jobs with a schedule that other pages and sections tell of. */
const ELSEWHERE = [
  'queue-evaluate-wallet-alerts',
  'queue-evaluate-spend-alerts',
  'queue-exports',
  'tell-rejected',
  'remove-expired-keys',
  'reconcile-usage',
  'watch-meter-waits',
  'watch-billing',
  'anchor-ledgers',
  'look-for-late-usage',
];

const section = sectionOf(readRules(), '32');

/** The table of docs/domain.md 32: what is done, how often, and the job that looks for it. */
const TABLE = [...section.matchAll(/^\| ([^|]+) \| ([^|]+) \| `([^`|]+)` \|$/gm)].map(
  ([, what = '', every = '', job = '']) => ({ what: what.split(', '), every, job }),
);

const SCHEDULED = new Map(
  (BILLING_JOBS as readonly Job<JobNeeds>[])
    .filter(({ schedule }) => schedule !== null)
    .map((job) => [job.name, job] as const),
);

function everyOf(schedule: Schedule | null): string {
  if (schedule === null) return 'on demand';
  if ('cron' in schedule) {
    const [minute = '', hour = ''] = schedule.cron.split(' ');
    return `daily at ${hour.padStart(2, '0')}:${minute.padStart(2, '0')} ${schedule.timeZone}`;
  }
  const seconds = schedule.everyMs / 1_000;
  return seconds < 60 ? `${seconds} s` : `${seconds / 60} min`;
}

/** Everything there is, but for the versions: a draft that is computed again has another one. */
async function leftBy(api: BillingUnderTest): Promise<unknown> {
  const life = Object.entries(await lifeOf(api));
  return life.map(([kind, texts]) => [
    kind,
    texts.map((text) => text.replaceAll(/"version":\d+/g, '"version"')),
  ]);
}

describe('the table of the scheduler', () => {
  it('has every job that has a schedule and no page of its own, as often as it runs', () => {
    expect(TABLE.map(({ job, every }) => [job, every])).toEqual(
      TABLE.map(({ job }) => [job, everyOf(mustGet(SCHEDULED, job, 'the job').schedule)]),
    );
    const told = [...TABLE.map(({ job }) => job), ...ELSEWHERE];
    expect([...SCHEDULED.keys()].sort()).toEqual(told.sort());
  });

  it('has a row here for everything that it names', () => {
    expect(ROWS.map(({ what }) => what)).toEqual(TABLE.flatMap(({ what }) => what));
  });

  test(
    'is caught up with by one run that is months late, and a second run at the same instant changes nothing',
    { timeout: 300_000 },
    async ({ api, database, clickhouse, world: begun }) => {
      const receiver = await startReceiver();
      const world: Lived = { ...begun, receiver };
      const { environment } = api;
      const engines = { database: database.database, clickHouse: clickhouse.client, environment };
      const needs = billingNeeds(engines);
      const jobs = BILLING_JOBS as readonly Job<JobNeeds>[];
      const runner = billingRunner(
        engines,
        jobs.filter(({ schedule }) => schedule === null),
      );
      const tick = async (name: string): Promise<void> => {
        const now = Date.parse(LATE);
        const { signal } = new AbortController();
        const progressed = (): Promise<void> => Promise.resolve();
        const about = { job: name, runId: 'run', environment: null, now, dueAt: now };
        const given = { input: {}, state: null, run: { ...about, signal, progressed } };
        await mustGet(SCHEDULED, name, 'the job').perform(null, given, needs);
        await runner.runDue(now);
      };
      await api.make('/v1/connections', {
        name: 'Cards',
        provider_type: 'stripe',
        endpoint_url: world.stripe.url,
        secrets: { secret_key: KEY, webhook_secret: world.stripe.webhookSecret },
      });
      for (const { prepare } of ROWS) await prepare(api, world);
      // The gateway is asked for what the opening invoices charge.
      await runner.runDue(Date.parse('2027-01-01T00:00:00Z'));
      await setTestClock(database.database, environment, Date.parse(LATE));
      for (const { job, what } of TABLE) {
        const rows = ROWS.filter((row) => what.includes(row.what));
        for (const row of rows) await row.before?.(api, world);
        await tick(job);
        const seen: unknown[] = [];
        for (const { what: of, look } of rows) seen.push([of, await look(api, world)]);
        expect(seen).toEqual(rows.map(({ what: of, done }) => [of, done]));
        const before = await leftBy(api);
        const sent = receiver.received.length;
        await tick(job);
        expect([job, await leftBy(api), receiver.received.length]).toEqual([job, before, sent]);
      }
      await receiver.close();
    },
  );
});

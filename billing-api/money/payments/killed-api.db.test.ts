import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { drawSeed } from '../../../load-tests/harness/draw-seed.js';
import { createSeededRandom } from '../../../load-tests/harness/seeded-random.js';
import { builtModule } from '../../../runtime/project.js';
import { API_KEY, type BillingUnderTest } from '../../testing/billing-harness.js';
import { test } from '../../testing/billed-test.js';
import { expectBalancedBooks } from '../../testing/check-books.js';
import type { Answer } from '../../testing/money-test.js';
import { startStripeSimulator, type StripeSimulator } from '../../testing/stripe-simulator.js';

/** Operations of each kind. */
const COUNT = 12;
const KILLS_MIN = 4;
/** Callers at once. */
const CALLERS = 4;

/** A process that serves the API, and is killed and started again. */
type Victim = {
  process: ChildProcess;
  url: string;
  /** Since it was started. */
  answers: number;
};

async function start(victim: Victim, engines: object): Promise<void> {
  victim.process = fork(builtModule('billing-api/testing/serve-as-worker'), [
    JSON.stringify(engines),
  ]);
  const [url] = (await once(victim.process, 'message')) as [string];
  victim.url = url;
  victim.answers = 0;
}

/** A request that is sent until it has an answer, however often the process dies under it. */
type Request = {
  readonly path: string;
  readonly body: object;
  /** What a repetition is answered with that comes after the first has been carried out. */
  readonly isDone?: RegExp;
};

async function send(victim: Victim, { path, body, isDone = /^$/ }: Request): Promise<void> {
  for (;;) {
    const headers = { 'x-api-key': API_KEY, 'content-type': 'application/json' };
    const sent = { method: 'POST', headers, body: JSON.stringify(body) };
    const answer = await fetch(`${victim.url}${path}`, sent).catch(() => null);
    const text = (await answer?.text().catch(() => null)) ?? null;
    if (answer !== null && text !== null) {
      victim.answers += 1;
      if (answer.ok || isDone.test(text)) return;
      if (answer.status < 500) throw new Error(`${path} answered ${answer.status}: ${text}`);
    }
    await setTimeout(20);
  }
}

const places = Array.from({ length: COUNT }, (_, place) => place);

/** A customer for each kind of operation, each with what is done to it. */
async function prepare(api: BillingUnderTest) {
  const customers = new Map<string, Answer>();
  for (const name of ['offline', 'card', 'noted', 'voided', 'buyer']) {
    customers.set(name, await api.make('/v1/customers', { external_id: name }));
  }
  const wallet = await api.make('/v1/wallets', { external_customer_id: 'buyer', currency: 'usd' });
  const invoicesOf = (name: string): Promise<Answer[]> =>
    Promise.all(
      places.map(() =>
        api.make('/v1/invoices', {
          customer_id: customers.get(name).id,
          currency: 'usd',
          subtotal: '10',
          total: '10',
          amount_due: '10',
          line_items: [{ display_name: 'W', amount: '10' }],
        }),
      ),
    );
  const [offline, card, noted, voided] = await Promise.all(
    ['offline', 'card', 'noted', 'voided'].map(invoicesOf),
  );
  for (const { id } of [...(noted ?? []), ...(voided ?? [])]) {
    await api.call('PUT', `/v1/invoices/${id}/payment`, { body: { payment_status: 'SUCCEEDED' } });
  }
  return { wallet, offline, card, noted, voided } as const;
}
type Prepared = Awaited<ReturnType<typeof prepare>>;

function requestsOf({ wallet, offline, card, noted, voided }: Prepared): readonly Request[] {
  const payment = (invoice: Answer, members: object) => ({
    path: '/v1/payments',
    body: {
      destination_type: 'INVOICE',
      destination_id: invoice.id,
      amount: '10',
      currency: 'usd',
      process_payment: true,
      idempotency_key: `of ${invoice.id}`,
      ...members,
    },
  });
  const cardOf = { payment_method_type: 'CARD', payment_method_id: 'pm_card_visa' };
  return places.flatMap((place) => [
    payment(offline?.[place], { payment_method_type: 'OFFLINE' }),
    payment(card?.[place], cardOf),
    {
      path: '/v1/creditnotes',
      body: {
        invoice_id: noted?.[place].id,
        idempotency_key: `note ${place}`,
        line_items: [{ invoice_line_item_id: noted?.[place].line_items[0].id, amount: '4' }],
      },
    },
    {
      path: `/v1/wallets/${wallet.id}/top-up`,
      body: {
        credits_to_add: '3',
        transaction_reason: 'PURCHASED_CREDIT_DIRECT',
        idempotency_key: `top-up ${place}`,
      },
    },
    { path: `/v1/invoices/${voided?.[place].id}/void`, body: {}, isDone: /the invoice is VOIDED/ },
  ]);
}

/** Kills the process at random instants while work goes on. @returns how often. */
async function killMeanwhile(
  victim: Victim,
  engines: object,
  { seed, isDone }: { readonly seed: number; readonly isDone: () => boolean },
): Promise<number> {
  const random = createSeededRandom(seed);
  let kills = 0;
  while (!isDone()) {
    // Some get their answers, so that the work goes on however slow the machine is.
    const wanted = 3 + random.below(5);
    while (victim.answers < wanted && !isDone()) await setTimeout(5);
    await setTimeout(random.below(40));
    if (isDone()) break;
    victim.process.kill('SIGKILL');
    kills += 1;
    await start(victim, engines);
  }
  return kills;
}

async function workThrough(victim: Victim, requests: readonly Request[]): Promise<void> {
  const left = [...requests];
  const call = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      await send(victim, next);
      await setTimeout(10);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, call));
}

/** Waits until the gateway has answered for all cards. */
async function settleCards(api: BillingUnderTest): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    const { body } = await api.call('GET', '/v1/payments?payment_status=PROCESSING');
    if (body.items.length === 0) return;
    await setTimeout(100);
  }
  throw new Error('payments stay in process');
}

async function expectEachOnce(
  api: BillingUnderTest,
  { wallet, offline, card, noted, voided }: Prepared,
  stripe: StripeSimulator,
): Promise<void> {
  const read = async ({ id }: Answer) => (await api.call('GET', `/v1/invoices/${id}`)).body;
  const all = (invoices: Answer[] | undefined) => Promise.all((invoices ?? []).map(read));
  for (const invoice of [...(await all(offline)), ...(await all(card))]) {
    expect(invoice).toMatchObject({ payment_status: 'SUCCEEDED', amount_paid: '10.00' });
    const { body } = await api.call('GET', `/v1/payments?destination_id=${invoice.id}`);
    expect(body.items).toHaveLength(1);
  }
  const captured = [...stripe.intents.values()].filter(({ captures }) => captures > 0);
  expect(captured.map(({ captures }) => captures)).toEqual(places.map(() => 1));
  expect(new Set(captured.map(({ metadata }) => metadata['payment_id'])).size).toBe(COUNT);
  for (const invoice of await all(noted)) {
    expect(invoice).toMatchObject({ refunded_amount: '4.00' });
  }
  for (const invoice of await all(voided)) {
    expect(invoice).toMatchObject({ invoice_status: 'VOIDED', payment_status: 'REFUNDED' });
  }
  const topped = (await api.call('GET', `/v1/wallets/${wallet.id}`)).body;
  expect(topped.credit_balance).toBe(String(3 * COUNT));
  const wallets = (await api.make('/v1/wallets/search', {})).items;
  const balances = wallets.map((one: Answer) => Number(one.credit_balance)).sort();
  // What notes gave, what voids gave back, and what was bought.
  expect(balances).toEqual([10 * COUNT, 3 * COUNT, 4 * COUNT].sort());
}

describe('an API that is killed at random instants', () => {
  const seed = drawSeed();

  test(
    `carries out payments, notes, top-ups and voids once: seed ${seed}`,
    { timeout: 300_000 },
    async ({ api, database, clickhouse }) => {
      const engines = { databaseUrl: database.url, clickHouseUrl: clickhouse.url };
      const stripe = await startStripeSimulator();
      await api.make('/v1/connections', {
        name: 'Cards',
        provider_type: 'stripe',
        endpoint_url: stripe.url,
        secrets: { secret_key: 'example', webhook_secret: stripe.webhookSecret },
      });
      const prepared = await prepare(api);
      const victim = {} as Victim;
      await start(victim, engines);
      try {
        const work = { isOver: false };
        const working = workThrough(victim, requestsOf(prepared)).finally(() => {
          work.isOver = true;
        });
        const isDone = () => work.isOver;
        const [, kills] = await Promise.all([
          working,
          killMeanwhile(victim, engines, { seed, isDone }),
        ]);
        expect(kills).toBeGreaterThanOrEqual(KILLS_MIN);
        await settleCards(api);
      } finally {
        victim.process.kill('SIGKILL');
        await stripe.close();
      }
      await expectEachOnce(api, prepared, stripe);
      await expectBalancedBooks(api);
      const { body: jobs } = await api.call('GET', '/v1/jobs?status=parked');
      expect(jobs.items).toEqual([]);
    },
  );
});

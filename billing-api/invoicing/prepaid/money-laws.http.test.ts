import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { drawSeed } from '../../../load-tests/harness/draw-seed.js';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import { createSeededRandom } from '../../../load-tests/harness/seeded-random.js';
import {
  ADVANCE_OPERATIONS,
  makeAdvancePlans,
  type AdvanceWorld,
} from '../../testing/advance-money.js';
import { billingRunner } from '../../testing/bill-environment.js';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { expectBalancedBooks } from '../../testing/check-books.js';
import { brokenLaws } from '../../testing/money-laws.js';
import { CARD, test, type Gateway } from '../../testing/gateway-test.js';
import type { Answer } from '../../testing/money-test.js';
import { DependencyError } from '../../../runtime/failure.js';
import type { Database } from '../../../sql/pool.js';
import { GatewayUnavailable } from '../../money/gateways/payment-gateway.js';
import type { SimulatedPage } from '../../testing/simulated-pages.js';
import {
  signedAgain,
  type SignedBody,
  type SimulatedIntent,
} from '../../testing/stripe-simulator.js';

const CALLERS = 10;
/** `MONEY_ROUNDS` makes a long run of it. */
const ROUNDS = Number(process.env['MONEY_ROUNDS'] ?? '25');
/** How many digits the smallest unit of each currency has. */
const DIGITS = { usd: 2, jpy: 0, kwd: 3 };
type Currency = keyof typeof DIGITS;
const CURRENCIES = Object.keys(DIGITS) as Currency[];

/** What the callers share: everything that they have made so far. */
type World = AdvanceWorld & {
  readonly payments: Answer[];
  readonly notes: Answer[];
  readonly wallets: Answer[];
  readonly gateway: Gateway;
  /** Payments that only the gateway decides. */
  readonly charges: Answer[];
  /** Signals that were sent, to come again however late. */
  readonly signals: SignedBody[];
  readonly database: Database;
  /** How often the database ended a connection in the running round. */
  cuts: number;
};

const drawn = <Item>({ random }: World, items: readonly Item[]): Item | undefined =>
  items[random.below(Math.max(1, items.length))];

function amountIn({ random }: World, currency: string, unitsMax: number): string {
  const digits = DIGITS[currency as Currency];
  return ((1 + random.below(unitsMax)) / 10 ** digits).toFixed(digits);
}

async function makeInvoice(world: World): Promise<void> {
  const currency = drawn(world, CURRENCIES) ?? 'usd';
  const lines = Array.from({ length: 1 + world.random.below(3) }, () => ({
    display_name: 'Work',
    amount: amountIn(world, currency, 9_000),
  }));
  const sum = lines.reduce((total, { amount }) => total + Number(amount), 0);
  const subtotal = sum.toFixed(DIGITS[currency]);
  const { body, status } = await world.api.call('POST', '/v1/invoices', {
    body: {
      customer_id: drawn(world, world.customers),
      currency,
      line_items: lines,
      subtotal,
      total: subtotal,
      amount_due: subtotal,
      ...(world.random.below(2) === 0 ? {} : { coupons: ['TEN'] }),
      ...(world.random.below(2) === 0 ? {} : { tax_rates: ['VAT'] }),
    },
  });
  if (status === 201) world.invoices.push(body);
}

async function payInvoice(world: World): Promise<void> {
  const invoice = drawn(world, world.invoices);
  if (invoice === undefined) return;
  const amount = amountIn(world, invoice.currency, 15_000);
  await world.api.call('PUT', `/v1/invoices/${invoice.id}/payment`, { body: { amount } });
}

async function makePayment(world: World): Promise<void> {
  const invoice = drawn(world, world.invoices);
  if (invoice === undefined) return;
  const { body, status } = await world.api.call('POST', '/v1/payments', {
    body: {
      destination_type: 'INVOICE',
      destination_id: invoice.id,
      currency: invoice.currency,
      payment_method_type: drawn(world, ['OFFLINE', 'CREDITS', 'CARD']),
      amount: amountIn(world, invoice.currency, 9_000),
      process_payment: world.random.below(2) === 0,
    },
  });
  if (status === 201) world.payments.push(body);
}

async function reportPayment(world: World): Promise<void> {
  const payment = drawn(world, world.payments);
  if (payment === undefined) return;
  const outcomes = ['SUCCEEDED', 'FAILED', 'PROCESSING', 'VOIDED', 'REFUNDED'];
  await world.api.call('PUT', `/v1/payments/${payment.id}`, {
    body: { payment_status: drawn(world, outcomes) },
  });
}

async function creditInvoice(world: World): Promise<void> {
  const invoice = drawn(world, world.invoices);
  if (invoice === undefined) return;
  const line = drawn<Answer>(world, invoice.line_items)?.id;
  if (line === undefined) return;
  const { body, status } = await world.api.call('POST', '/v1/creditnotes', {
    body: {
      invoice_id: invoice.id,
      process_credit_note: world.random.below(3) > 0,
      line_items: [
        { invoice_line_item_id: line, amount: amountIn(world, invoice.currency, 8_000) },
      ],
    },
  });
  if (status === 201) world.notes.push(body);
}

async function moveNote(world: World): Promise<void> {
  const note = drawn(world, world.notes);
  if (note === undefined) return;
  const move = drawn(world, ['finalize', 'void']);
  await world.api.call('POST', `/v1/creditnotes/${note.id}/${move}`);
}

async function makeWallet(world: World): Promise<void> {
  const { body, status } = await world.api.call('POST', '/v1/wallets', {
    body: {
      customer_id: drawn(world, world.customers),
      currency: drawn(world, CURRENCIES),
      wallet_type: drawn(world, ['PRE_PAID', 'POST_PAID']),
      conversion_rate: drawn(world, ['1', '0.3', '0.000007']),
      config: { allowed_price_types: ['ALL'] },
    },
  });
  if (status === 200) world.wallets.push(body);
}

async function topUp(world: World): Promise<void> {
  const wallet = drawn(world, world.wallets);
  if (wallet === undefined) return;
  const reasons = ['FREE_CREDIT_GRANT', 'PURCHASED_CREDIT_DIRECT', 'PURCHASED_CREDIT_INVOICED'];
  const { body } = await world.api.call('POST', `/v1/wallets/${wallet.id}/top-up`, {
    body: {
      credits_to_add: `${1 + world.random.below(500)}.${world.random.below(1_000)}`,
      transaction_reason: drawn(world, reasons),
    },
  });
  if (typeof body.invoice_id !== 'string') return;
  const { body: invoice, status } = await world.api.call('GET', `/v1/invoices/${body.invoice_id}`);
  if (status === 200) world.invoices.push(invoice);
}

async function debit(world: World): Promise<void> {
  const wallet = drawn(world, world.wallets);
  if (wallet === undefined) return;
  await world.api.call('POST', `/v1/wallets/${wallet.id}/debit`, {
    body: {
      credits: `${1 + world.random.below(200)}`,
      transaction_reason: 'CREDIT_ADJUSTMENT',
      idempotency_key: `${world.random.below(1_000)}`,
    },
  });
}

async function endWallet(world: World): Promise<void> {
  const wallet = drawn(world, world.wallets);
  if (wallet === undefined || world.random.below(4) > 0) return;
  const path = `/v1/wallets/${wallet.id}`;
  if (world.random.below(2) === 0) {
    await world.api.call('POST', `${path}/terminate`);
    return;
  }
  const body = { modification_type: 'prepaid_to_postpaid' };
  const answer = await world.api.call('POST', `${path}/modify`, { body });
  if (answer.status === 200) world.wallets.push(answer.body.new_wallet);
}

async function voidInvoice(world: World): Promise<void> {
  const invoice = drawn(world, world.invoices);
  if (invoice === undefined || world.random.below(3) > 0) return;
  await world.api.call('POST', `/v1/invoices/${invoice.id}/void`, { body: {} });
}

/** A page where a payer pays what is left of an invoice, or less. */
async function link(world: World): Promise<void> {
  const invoice = drawn(world, world.invoices);
  if (invoice === undefined) return;
  const amount = chargeable(amountIn(world, invoice.currency, 5_000));
  const { body, status } = await world.api.call('POST', '/v1/payments', {
    body: {
      destination_type: 'INVOICE',
      destination_id: invoice.id,
      currency: invoice.currency,
      payment_method_type: 'PAYMENT_LINK',
      payment_gateway: 'stripe',
      amount,
      process_payment: true,
      success_url: 'https://shop.example',
    },
  });
  if (status === 201) world.charges.push(body);
}

/** A payer pays by a page that is open, or it expires; sometimes the gateway tells at once. */
async function usePage(world: World): Promise<void> {
  const { gateway, random } = world;
  const page = drawn(world, [...gateway.stripe.pages.all.values()]);
  if (page === undefined) return;
  if (random.below(4) === 0 && page.status === 'open') page.status = 'expired';
  else gateway.stripe.pages.pay(page);
  if (random.below(2) === 0) await tellPage(world, page);
}

/** The gateway tells how a page has ended, twice at once. */
async function tellPage(world: World, page: SimulatedPage): Promise<void> {
  const { gateway } = world;
  if (page.status === 'open') return;
  const what = page.status === 'complete' ? 'completed' : 'expired';
  await tellTwice(world, gateway.stripe.pageEvent(page, `checkout.session.${what}`));
}

/** The gateway sends a signal twice at once, and once more each time the database failed. */
async function tellTwice(world: World, told: SignedBody): Promise<void> {
  const tell = async (): Promise<number> => {
    const { status } = await world.gateway.signal(signedAgain(told));
    return status === 503 && world.cuts > 0 ? tell() : status;
  };
  expect(await Promise.all([tell(), tell()])).toEqual([200, 200]);
}

/** A card whose money the gateway takes: for an invoice, or of a customer for none yet. */
async function charge(world: World): Promise<void> {
  const invoice = drawn(world, world.invoices);
  const customer = drawn(world, world.customers);
  const isForInvoice = world.random.below(3) > 0;
  if (isForInvoice && invoice === undefined) return;
  const currency = isForInvoice ? invoice.currency : drawn(world, CURRENCIES);
  const to = isForInvoice
    ? { destination_type: 'INVOICE', destination_id: invoice.id }
    : { destination_type: 'CUSTOMER', destination_id: customer };
  const { body, status } = await world.api.call('POST', '/v1/payments', {
    body: {
      ...CARD,
      ...to,
      currency,
      amount: chargeable(amountIn(world, currency, 9_000)),
      payment_method_id: drawn(world, ['pm_card_visa', 'pm_slow', 'pm_card_chargeDeclined']),
    },
  });
  if (status === 201) world.charges.push(body);
}

/** Stripe knows three digits only where the last one is 0. */
const chargeable = (amount: string): string =>
  /\.\d{3}$/.test(amount) ? (Number(amount) + 0.01).toFixed(2) : amount;

/** The job takes a charge, and the gateway or its answer may fail meanwhile. */
async function takeCharge(world: World): Promise<void> {
  const { gateway, random, charges } = world;
  const payment = charges[random.below(Math.max(1, charges.length))];
  if (payment === undefined) return;
  const fault = random.below(4);
  if (fault === 0) gateway.stripe.loseNext = 1;
  if (fault === 1) gateway.stripe.failNext = 1;
  await tryCharge(world, payment);
}

async function tryCharge({ gateway, cuts }: World, payment: Answer): Promise<void> {
  try {
    await gateway.tryOnce(payment);
  } catch (error) {
    // The job tries again after both.
    const isOutage = cuts > 0 && error instanceof DependencyError;
    if (!isOutage && !(error instanceof GatewayUnavailable)) throw error;
  }
}

/** What becomes of a charge that waits at the gateway. */
function decide({ random }: World, intent: SimulatedIntent): void {
  if (intent.status !== 'processing' && intent.status !== 'requires_payment_method') return;
  if (random.below(2) === 0) intent.status = 'requires_payment_method';
  else Object.assign(intent, { status: 'succeeded', captures: 1 });
}

/** What was given back there in all, which only grows. */
const refundedThere = new WeakMap<SimulatedIntent, number>();

function refundEvent({ random, gateway }: World, intent: SimulatedIntent): SignedBody {
  const before = refundedThere.get(intent) ?? 0;
  const refunded = Math.min(intent.amount, before + 1 + random.below(intent.amount));
  refundedThere.set(intent, refunded);
  return gateway.stripe.event('charge.refunded', {
    id: `ch of ${intent.id}`,
    object: 'charge',
    payment_intent: intent.id,
    currency: intent.currency,
    amount: intent.amount,
    amount_captured: intent.amount,
    amount_refunded: refunded,
  });
}

/** The bank of the payer takes a part of the money back, or all of it. */
function disputeEvent({ random, gateway, signals }: World, intent: SimulatedIntent): SignedBody {
  return gateway.stripe.event('charge.dispute.funds_withdrawn', {
    id: `dp ${signals.length} of ${intent.id}`,
    object: 'dispute',
    charge: `ch of ${intent.id}`,
    payment_intent: intent.id,
    currency: intent.currency,
    amount: 1 + random.below(intent.amount),
  });
}

function eventOf(world: World, intent: SimulatedIntent): SignedBody {
  const { stripe } = world.gateway;
  if (intent.captures === 0) return stripe.intentEvent(intent, 'payment_intent.payment_failed');
  const drawn = world.random.below(8);
  if (drawn < 2) return refundEvent(world, intent);
  // A dispute that comes before the success is refused, and the gateway sends it again later.
  if (drawn === 2 && succeeded.has(intent)) return disputeEvent(world, intent);
  succeeded.add(intent);
  return stripe.intentEvent(intent, 'payment_intent.succeeded');
}

/** The charges of which the gateway has told that they succeeded. */
const succeeded = new WeakSet<SimulatedIntent>();

/** The gateway tells of a charge, or sends an old signal again; each of them twice at once. */
async function signal(world: World): Promise<void> {
  const { gateway, signals, random } = world;
  const intent = drawn(world, [...gateway.stripe.intents.values()]);
  const isOld = signals.length > 0 && random.below(3) === 0;
  if (intent === undefined || intent.status === 'requires_confirmation') return;
  if (!isOld) {
    decide(world, intent);
    signals.push(eventOf(world, intent));
  }
  const told = isOld ? drawn(world, signals) : signals.at(-1);
  if (told !== undefined) await tellTwice(world, told);
}

/** Lets the gateway answer for everything that waits, and tell how it has ended. */
async function settleCharges(world: World): Promise<void> {
  const { gateway, charges } = world;
  Object.assign(gateway.stripe, { loseNext: 0, failNext: 0 });
  for (const payment of charges) await tryCharge(world, payment);
  for (const intent of gateway.stripe.intents.values()) {
    if (intent.captures === 0) continue;
    const told = gateway.stripe.intentEvent(intent, 'payment_intent.succeeded');
    expect((await gateway.signal(told)).status).toBe(200);
  }
  for (const page of gateway.stripe.pages.all.values()) await tellPage(world, page);
  // Pages that what came meanwhile has left too little for.
  for (const payment of charges) await tryCharge(world, payment);
}

const PAID = ['SUCCEEDED', 'OVERPAID', 'PARTIALLY_REFUNDED', 'REFUNDED'];

/** That each card was charged at most once, and that the payment of a charge says what it took. */
async function expectChargesCounted({ api, gateway, charges }: World): Promise<void> {
  const intents = [...gateway.stripe.intents.values()];
  expect(intents.filter(({ captures }) => captures > 1)).toEqual([]);
  const pages = [...gateway.stripe.pages.all.values()].filter(({ isPaid }) => isPaid);
  const captured = intents.filter(({ captures }) => captures === 1);
  const taken = new Set([...captured, ...pages].map(({ metadata }) => metadata['payment_id']));
  for (const { id } of charges) {
    const { body } = await api.call('GET', `/v1/payments/${id}`);
    const isTaken = taken.has(id);
    expect([id, PAID.includes(body.payment_status)]).toEqual([id, isTaken]);
  }
}

/**
 * The database ends a connection that is at work, whatever it has done so far. Waits until it is
 * gone, so that only callers of this round meet it.
 */
async function cutConnection(world: World): Promise<void> {
  world.cuts += 1;
  await ownerOf(world.database).query(sql.type(z.unknown())`
    SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
      AND backend_type = 'client backend'
    LIMIT 1`);
}

const GATEWAY_OPERATIONS = [
  charge,
  charge,
  charge,
  link,
  link,
  takeCharge,
  takeCharge,
  takeCharge,
  signal,
  signal,
  usePage,
  usePage,
];

const OPERATIONS = [
  ...GATEWAY_OPERATIONS,
  makeInvoice,
  makeInvoice,
  payInvoice,
  makePayment,
  makePayment,
  reportPayment,
  creditInvoice,
  creditInvoice,
  moveNote,
  makeWallet,
  topUp,
  topUp,
  debit,
  endWallet,
  voidInvoice,
  cutConnection,
  ...ADVANCE_OPERATIONS,
];

describe('money under random operations of ten callers at once', () => {
  const seed = drawSeed();

  test(
    `is neither made nor lost: seed ${seed}`,
    { timeout: 12_000 * Math.max(25, ROUNDS) },
    async ({ api, clickhouse, database, gateway }) => {
      const customers: string[] = [];
      for (const name of ['a', 'b', 'c']) {
        customers.push((await api.make('/v1/customers', { external_id: name })).id);
      }
      await api.make('/v1/coupons', {
        name: 'Ten',
        coupon_code: 'TEN',
        type: 'percentage',
        percentage_off: '10',
        cadence: 'forever',
      });
      await api.make('/v1/taxes/rates', { name: 'VAT', code: 'VAT', percentage_value: '19' });
      const made = { invoices: [], payments: [], notes: [], wallets: [], charges: [], signals: [] };
      const random = createSeededRandom(seed);
      const plans = await makeAdvancePlans(api, customers[0] ?? '');
      const runner = billingRunner({
        database: database.database,
        clickHouse: clickhouse.client,
        environment: api.environment,
      });
      const runJobs = async () => void (await runner.runDue(Date.now()));
      const own = { plans, subscriptions: [], runJobs };
      const known = { api, random, customers, gateway, database: database.database, cuts: 0 };
      const world: World = { ...known, ...own, ...made };
      const failures: unknown[] = [];
      const call = api.call;
      const counted: BillingUnderTest['call'] = async (...request) => {
        const answer = await call(...request);
        const isCut = answer.status === 503 && counting.cuts > 0;
        if (answer.status >= 500 && !isCut) failures.push(answer);
        return answer;
      };
      const counting: World = { ...world, api: { ...api, call: counted } };
      for (let round = 0; round < ROUNDS; round += 1) {
        counting.cuts = 0;
        const operations = Array.from({ length: CALLERS }, () => drawn(world, OPERATIONS));
        const ends = await Promise.allSettled(
          operations.map(async (operation) => operation?.(counting)),
        );
        const broken = ends.find((end) => end.status === 'rejected');
        // A caller whose connection was cut does not get what it goes on with.
        if (broken !== undefined && counting.cuts === 0) throw broken.reason;
        await expectBalancedBooks(api);
      }
      await settleCharges(counting);
      await expectBalancedBooks(api);
      await expectChargesCounted(counting);
      expect(failures).toEqual([]);
      expect(await brokenLaws(database.database)).toEqual([]);
      expect(counting.invoices.length).toBeGreaterThan(10);
      expect(gateway.stripe.intents.size).toBeGreaterThan(2);
    },
  );
});

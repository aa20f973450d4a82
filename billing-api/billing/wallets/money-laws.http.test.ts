import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { drawSeed } from '../../../load-tests/harness/draw-seed.js';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import {
  createSeededRandom,
  type SeededRandom,
} from '../../../load-tests/harness/seeded-random.js';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { expectBalancedBooks } from '../../testing/check-books.js';
import { CARD, test, type Gateway } from '../../testing/gateway-test.js';
import type { Answer } from '../../testing/money-test.js';
import { GatewayUnavailable } from '../gateways/payment-gateway.js';
import type { SignedBody, SimulatedIntent } from '../../testing/stripe-simulator.js';

const CALLERS = 10;
const ROUNDS = 25;
/** An amount of each currency in its smallest unit. */
const UNITS = { usd: '0.01', jpy: '1', kwd: '0.001' };
type Currency = keyof typeof UNITS;
const CURRENCIES = Object.keys(UNITS) as Currency[];

/** What the callers share: everything that they have made so far. */
type World = {
  readonly api: BillingUnderTest;
  readonly random: SeededRandom;
  readonly customers: readonly string[];
  readonly invoices: Answer[];
  readonly payments: Answer[];
  readonly notes: Answer[];
  readonly wallets: Answer[];
  readonly gateway: Gateway;
  /** Payments that only the gateway decides. */
  readonly charges: Answer[];
  /** Signals that were sent, to come again however late. */
  readonly signals: SignedBody[];
};

const drawn = <Item>({ random }: World, items: readonly Item[]): Item | undefined =>
  items[random.below(Math.max(1, items.length))];

function amountIn({ random }: World, currency: string, unitsMax: number): string {
  const digits = { usd: 2, jpy: 0, kwd: 3 }[currency as Currency];
  return ((1 + random.below(unitsMax)) / 10 ** digits).toFixed(digits);
}

async function makeInvoice(world: World): Promise<void> {
  const currency = drawn(world, CURRENCIES) ?? 'usd';
  const amount = amountIn(world, currency, 20_000);
  const { body } = await world.api.call('POST', '/v1/invoices', {
    body: {
      ...{ customer_id: drawn(world, world.customers), currency, subtotal: amount },
      ...{ total: amount, amount_due: amount },
      line_items: [{ display_name: 'Work', amount }],
    },
  });
  world.invoices.push(body);
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
      ...{ destination_type: 'INVOICE', destination_id: invoice.id, currency: invoice.currency },
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
  const line = invoice.line_items[0].id;
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
  world.invoices.push((await world.api.call('GET', `/v1/invoices/${body.invoice_id}`)).body);
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
      ...{ ...CARD, ...to, currency, amount: chargeable(amountIn(world, currency, 9_000)) },
      payment_method_id: drawn(world, ['pm_card_visa', 'pm_slow', 'pm_card_chargeDeclined']),
    },
  });
  if (status === 201) world.charges.push(body);
}

/** Stripe knows three digits only where the last one is 0. */
const chargeable = (amount: string): string =>
  /\.\d{3}$/.test(amount) ? (Number(amount) + 0.01).toFixed(2) : amount;

/** The job takes a charge, and the gateway or its answer may fail meanwhile. */
async function takeCharge({ gateway, random, charges }: World): Promise<void> {
  const payment = charges[random.below(Math.max(1, charges.length))];
  if (payment === undefined) return;
  const fault = random.below(4);
  if (fault === 0) gateway.stripe.loseNext = 1;
  if (fault === 1) gateway.stripe.failNext = 1;
  await tryCharge(gateway, payment);
}

async function tryCharge(gateway: Gateway, payment: Answer): Promise<void> {
  try {
    await gateway.tryOnce(payment);
  } catch (error) {
    if (!(error instanceof GatewayUnavailable)) throw error;
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
    ...{ id: `ch of ${intent.id}`, object: 'charge', payment_intent: intent.id },
    ...{ currency: intent.currency, amount: intent.amount, amount_captured: intent.amount },
    amount_refunded: refunded,
  });
}

function eventOf(world: World, intent: SimulatedIntent): SignedBody {
  const { stripe } = world.gateway;
  if (intent.captures === 0) return stripe.intentEvent(intent, 'payment_intent.payment_failed');
  const isRefund = world.random.below(4) === 0;
  return isRefund
    ? refundEvent(world, intent)
    : stripe.intentEvent(intent, 'payment_intent.succeeded');
}

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
  if (told === undefined) return;
  const answers = await Promise.all([gateway.signal(told), gateway.signal(told)]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
}

/** Lets the gateway answer for everything that waits, and tell how it has ended. */
async function settleCharges({ gateway, charges }: World): Promise<void> {
  Object.assign(gateway.stripe, { loseNext: 0, failNext: 0 });
  for (const payment of charges) await tryCharge(gateway, payment);
  for (const intent of gateway.stripe.intents.values()) {
    if (intent.captures === 0) continue;
    const told = gateway.stripe.intentEvent(intent, 'payment_intent.succeeded');
    expect((await gateway.signal(told)).status).toBe(200);
  }
}

const PAID = ['SUCCEEDED', 'OVERPAID', 'PARTIALLY_REFUNDED', 'REFUNDED'];

/** That each card was charged at most once, and that the payment of a charge says what it took. */
async function expectChargesCounted({ api, gateway, charges }: World): Promise<void> {
  const intents = [...gateway.stripe.intents.values()];
  expect(intents.filter(({ captures }) => captures > 1)).toEqual([]);
  const ofPayment = new Map(intents.map((intent) => [intent.metadata['payment_id'], intent]));
  for (const { id } of charges) {
    const { body } = await api.call('GET', `/v1/payments/${id}`);
    const intent = ofPayment.get(id);
    const isTaken = intent !== undefined && intent.captures === 1;
    expect([id, PAID.includes(body.payment_status)]).toEqual([id, isTaken]);
  }
}

const GATEWAY_OPERATIONS = [charge, charge, charge, takeCharge, takeCharge, signal, signal];

const OPERATIONS = [
  ...GATEWAY_OPERATIONS,
  ...[makeInvoice, makeInvoice, payInvoice, makePayment, makePayment, reportPayment],
  ...[creditInvoice, creditInvoice, moveNote, makeWallet, topUp, topUp, debit, endWallet],
  voidInvoice,
];

const problemRow = z.object({ id: z.string() });

/** Rows that break a law of money, each law by its name. */
const LAWS = {
  'what is left to pay follows from what is due and paid': sql.fragment`
    SELECT id FROM invoices WHERE amount_due <> total - adjustment_amount
      OR amount_remaining <> greatest(0, amount_due - amount_paid)
      OR overpaid_amount <> greatest(0, amount_paid - amount_due)`,
  'no more is given back than was paid': sql.fragment`
    SELECT id FROM invoices WHERE refunded_amount > amount_paid`,
  'no more is adjusted than was open': sql.fragment`
    SELECT id FROM invoices WHERE adjustment_amount > total`,
  'no wallet is below 0 but for money that has gone back at the gateway': sql.fragment`
    SELECT id FROM wallets WHERE credit_balance < 0 AND NOT EXISTS (
      SELECT FROM wallet_transactions AS debit WHERE debit.wallet_id = wallets.id
        AND debit.transaction_reason = 'MANUAL_BALANCE_DEBIT' AND debit.reference_type = 'PAYMENT')`,
  'a closed wallet is empty': sql.fragment`
    SELECT id FROM wallets WHERE wallet_status = 'closed' AND credit_balance <> 0`,
  'what is paid of an invoice are its payments': sql.fragment`
    SELECT invoice.id FROM invoices AS invoice WHERE amount_paid <> coalesce((
      SELECT sum(amount) FROM payments WHERE destination_id = invoice.id
        AND payment_status IN ('SUCCEEDED', 'OVERPAID', 'PARTIALLY_REFUNDED', 'REFUNDED')), 0)`,
  'the movements of a wallet, replayed from 0, give its balance': sql.fragment`
    SELECT wallet.id FROM wallets AS wallet WHERE credit_balance <> coalesce((
      SELECT sum(CASE type WHEN 'credit' THEN credit_amount ELSE -credit_amount END)
      FROM wallet_transactions WHERE wallet_id = wallet.id AND transaction_status = 'completed'), 0)`,
  'each movement of a wallet begins where the one before has ended': sql.fragment`
    SELECT id FROM (
      SELECT id, credit_balance_after - credit_balance_before AS moved,
        CASE type WHEN 'credit' THEN credit_amount ELSE -credit_amount END AS own
      FROM wallet_transactions WHERE transaction_status = 'completed') AS movement
    WHERE moved <> own`,
  'a debit takes as many credits as it says': sql.fragment`
    SELECT id FROM wallet_transactions AS debit
    WHERE type = 'debit' AND credit_amount + least(credit_balance_after, 0)
        - least(credit_balance_before, 0) <> (
      SELECT coalesce(sum((used ->> 'credits')::numeric), 0)
      FROM jsonb_array_elements(credits_used) AS used)`,
  'every movement of credits has one movement of money': sql.fragment`
    SELECT id FROM wallet_transactions AS movement
    WHERE transaction_status = 'completed' AND amount <> coalesce((
      SELECT abs(sum(posting.amount)) FROM ledger_postings AS posting
      WHERE posting.account = 'wallet' AND posting.wallet_id = movement.wallet_id
        AND posting.entity_id = movement.id), amount)`,
} as const;

describe('money under random operations of ten callers at once', () => {
  const seed = drawSeed();

  test(
    `is neither made nor lost: seed ${seed}`,
    { timeout: 300_000 },
    async ({ api, database, gateway }) => {
      const customers: string[] = [];
      for (const name of ['a', 'b', 'c']) {
        customers.push((await api.make('/v1/customers', { external_id: name })).id);
      }
      const made = { invoices: [], payments: [], notes: [], wallets: [], charges: [], signals: [] };
      const random = createSeededRandom(seed);
      const world: World = { api, random, customers, gateway, ...made };
      const answers = new Set<number>();
      const call = api.call;
      const counted: BillingUnderTest['call'] = async (...request) => {
        const answer = await call(...request);
        answers.add(answer.status);
        return answer;
      };
      const own = { ...world, api: { ...api, call: counted } };
      for (let round = 0; round < ROUNDS; round += 1) {
        const operations = Array.from({ length: CALLERS }, () => drawn(world, OPERATIONS));
        await Promise.all(operations.map(async (operation) => operation?.(own)));
        if (round % 5 === 4) await expectBalancedBooks(api);
      }
      await settleCharges(own);
      await expectBalancedBooks(api);
      await expectChargesCounted(own);
      expect([...answers].filter((status) => status >= 500)).toEqual([]);
      for (const [law, rows] of Object.entries(LAWS)) {
        const broken = await ownerOf(database.database).any(sql.type(problemRow)`${rows}`);
        expect([law, broken]).toEqual([law, []]);
      }
      expect(own.invoices.length).toBeGreaterThan(10);
      expect(gateway.stripe.intents.size).toBeGreaterThan(5);
    },
  );
});

describe('the books', () => {
  const ALTERATIONS = {
    'an amount of a posting': sql.fragment`UPDATE ledger_postings SET amount = amount * 2`,
    'the account of a posting': sql.fragment`
      UPDATE ledger_postings SET account = 'payments' WHERE account = 'revenue'`,
    'the kind of a movement': sql.fragment`UPDATE ledger_groups SET kind = 'other'`,
    'a movement that is gone': sql.fragment`
      WITH gone AS (DELETE FROM ledger_postings) DELETE FROM ledger_groups`,
    'a total': sql.fragment`UPDATE invoices SET total = total + 1`,
    'a payment': sql.fragment`UPDATE payments SET amount = amount + 1`,
    'a record that is gone': sql.fragment`
      WITH gone AS (DELETE FROM wallet_transactions WHERE credits_available >= 0)
      UPDATE wallets SET credit_balance = credit_balance`,
    'a balance': sql.fragment`UPDATE wallets SET credit_balance = credit_balance + 1`,
  };

  test.for(Object.entries(ALTERATIONS))(
    'show %s that was altered in the database',
    async ([, alteration], { api, database }) => {
      const customer = await api.make('/v1/customers', { external_id: 'a' });
      const wallet = { customer_id: customer.id, currency: 'usd', initial_credits_to_load: '5' };
      await api.make('/v1/wallets', wallet);
      const invoice = await api.make('/v1/invoices', {
        ...{ customer_id: customer.id, currency: 'usd', subtotal: '10', total: '10' },
        ...{ amount_due: '10', line_items: [{ display_name: 'Work', amount: '10' }] },
      });
      const path = `/v1/invoices/${invoice.id}/payment`;
      await api.call('PUT', path, { body: { amount: '10' } });
      await expectBalancedBooks(api);
      const owner = ownerOf(database.database);
      for (const table of ['ledger_postings', 'ledger_groups']) {
        const name = sql.identifier([table]);
        await owner.query(sql.type(z.unknown())`ALTER TABLE ${name} DISABLE TRIGGER USER`);
      }
      await owner.query(sql.type(z.unknown())`${alteration}`);
      const { body } = await api.call('GET', '/v1/ledger/verify');
      expect(body.problems.length).toBeGreaterThan(0);
    },
  );

  test('let nobody change or remove a posting, or post the same operation twice', async ({
    api,
    database,
  }) => {
    const customer = await api.make('/v1/customers', { external_id: 'a' });
    const wallet = { customer_id: customer.id, currency: 'usd', initial_credits_to_load: '5' };
    await api.make('/v1/wallets', wallet);
    const owner = ownerOf(database.database);
    for (const change of [
      sql.fragment`UPDATE ledger_postings SET amount = amount`,
      sql.fragment`DELETE FROM ledger_groups`,
      sql.fragment`
        INSERT INTO ledger_groups
        SELECT 'ledger_copy', tenant_id, environment_id, customer_id, position + 1, kind, entity_type,
          entity_id, occurrence, currency, posted_at, hash
        FROM ledger_groups`,
    ]) {
      await expect(owner.query(sql.type(z.unknown())`${change}`)).rejects.toThrow();
    }
    await expectBalancedBooks(api);
  });
});

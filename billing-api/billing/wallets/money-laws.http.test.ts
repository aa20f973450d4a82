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
import { CARD, test, type Gateway } from '../../testing/gateway-test.js';
import type { Answer } from '../../testing/money-test.js';
import { GatewayUnavailable } from '../gateways/payment-gateway.js';
import type { SimulatedPage } from '../../testing/simulated-pages.js';
import type { SignedBody, SimulatedIntent } from '../../testing/stripe-simulator.js';

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
    ...{ display_name: 'Work', amount: amountIn(world, currency, 9_000) },
  }));
  const sum = lines.reduce((total, { amount }) => total + Number(amount), 0);
  const subtotal = sum.toFixed(DIGITS[currency]);
  const { body } = await world.api.call('POST', '/v1/invoices', {
    body: {
      ...{ customer_id: drawn(world, world.customers), currency, line_items: lines },
      ...{ subtotal, total: subtotal, amount_due: subtotal },
      ...(world.random.below(2) === 0 ? {} : { coupons: ['TEN'] }),
      ...(world.random.below(2) === 0 ? {} : { tax_rates: ['VAT'] }),
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
  const line = drawn<Answer>(world, invoice.line_items).id;
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

/** A page where a payer pays what is left of an invoice, or less. */
async function link(world: World): Promise<void> {
  const invoice = drawn(world, world.invoices);
  if (invoice === undefined) return;
  const amount = chargeable(amountIn(world, invoice.currency, 5_000));
  const { body, status } = await world.api.call('POST', '/v1/payments', {
    body: {
      ...{ destination_type: 'INVOICE', destination_id: invoice.id, currency: invoice.currency },
      ...{ payment_method_type: 'PAYMENT_LINK', payment_gateway: 'stripe', amount },
      ...{ process_payment: true, success_url: 'https://shop.example' },
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
  if (random.below(2) === 0) await tellPage(gateway, page);
}

/** The gateway tells how a page has ended, twice at once. */
async function tellPage(gateway: Gateway, page: SimulatedPage): Promise<void> {
  if (page.status === 'open') return;
  const what = page.status === 'complete' ? 'completed' : 'expired';
  const told = gateway.stripe.pageEvent(page, `checkout.session.${what}`);
  const answers = await Promise.all([gateway.signal(told), gateway.signal(told)]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
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
  for (const page of gateway.stripe.pages.all.values()) await tellPage(gateway, page);
  // Pages that what came meanwhile has left too little for.
  for (const payment of charges) await tryCharge(gateway, payment);
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

const GATEWAY_OPERATIONS = [
  ...[charge, charge, charge, link, link, takeCharge, takeCharge, takeCharge],
  ...[signal, signal, usePage, usePage],
];

const OPERATIONS = [
  ...GATEWAY_OPERATIONS,
  ...[makeInvoice, makeInvoice, payInvoice, makePayment, makePayment, reportPayment],
  ...[creditInvoice, creditInvoice, moveNote, makeWallet, topUp, topUp, debit, endWallet],
  ...[voidInvoice, ...ADVANCE_OPERATIONS],
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
  'notes that lower what is to be paid have lowered it by what they say': sql.fragment`
    SELECT id FROM invoices WHERE adjustment_amount <> coalesce((
      SELECT sum(total_amount) FROM credit_notes WHERE invoice_id = invoices.id
        AND credit_note_type = 'ADJUSTMENT' AND credit_note_status = 'FINALIZED'), 0)`,
  'notes that give money back are among what was given back': sql.fragment`
    SELECT id FROM invoices WHERE refunded_amount < coalesce((
      SELECT sum(total_amount) FROM credit_notes WHERE invoice_id = invoices.id
        AND credit_note_type = 'REFUND' AND credit_note_status = 'FINALIZED'), 0)`,
  'no notes of an invoice are above what its lines and their taxes cost': sql.fragment`
    SELECT id FROM invoices WHERE subtotal - total_discount + total_tax < coalesce((
      SELECT sum(total_amount) FROM credit_notes
      WHERE invoice_id = invoices.id AND credit_note_status <> 'VOIDED'), 0)`,
  // Rounded up; the last line may take what the others have left, less than a unit of each.
  'no notes of a line are above what it costs with its tax': sql.fragment`
    SELECT line.id FROM invoice_line_items AS line JOIN invoices AS invoice ON invoice.id = line.invoice_id
    WHERE line.kind <> 'credit' AND (line.amount - line.line_item_discount - line.invoice_level_discount)
        * (1 + invoice.total_tax / greatest(invoice.subtotal - invoice.total_discount, 0.000001))
        + 3 * CASE invoice.currency WHEN 'usd' THEN 0.01 WHEN 'jpy' THEN 1 ELSE 0.001 END < coalesce((
      SELECT sum(noted.amount) FROM credit_note_lines AS noted
      JOIN credit_notes AS note ON note.id = noted.credit_note_id
      WHERE noted.invoice_line_item_id = line.id AND note.credit_note_status <> 'VOIDED'), 0)`,
  'what a customer owes by the ledger is what their invoices leave to be paid': sql.fragment`
    SELECT customer.id FROM customers AS customer CROSS JOIN unnest(ARRAY['usd', 'jpy', 'kwd']) AS of_currency
    WHERE coalesce((SELECT sum(amount) FROM ledger_postings
        WHERE customer_id = customer.id AND account = 'receivable' AND currency = of_currency), 0)
      <> coalesce((SELECT sum(amount_due - amount_paid) FROM invoices
        WHERE customer_id = customer.id AND currency = of_currency AND invoice_status = 'FINALIZED'), 0)`,
  'a page is open of an invoice that leaves less to be paid': sql.fragment`
    SELECT payment.id FROM payments AS payment JOIN invoices AS invoice ON invoice.id = payment.destination_id
    WHERE payment.payment_url IS NOT NULL
      AND (payment.amount > invoice.amount_remaining OR invoice.invoice_status <> 'FINALIZED')`,
  'no wallet is below 0 but for money that has gone back': sql.fragment`
    SELECT id FROM wallets WHERE credit_balance < 0 AND NOT EXISTS (
      SELECT FROM wallet_transactions AS debit WHERE debit.wallet_id = wallets.id
        AND debit.transaction_reason = 'MANUAL_BALANCE_DEBIT'
        AND debit.reference_type IN ('PAYMENT', 'INVOICE'))`,
  'a closed wallet is empty': sql.fragment`
    SELECT id FROM wallets WHERE wallet_status = 'closed' AND credit_balance <> 0`,
  'what is paid of an invoice and not refunded is what its payments have left, and what a wallet gave for it': sql.fragment`
    SELECT invoice.id FROM invoices AS invoice
    WHERE amount_paid - refunded_amount + coalesce((
      SELECT sum(total_amount) FROM credit_notes WHERE invoice_id = invoice.id
        AND credit_note_type = 'REFUND' AND credit_note_status = 'FINALIZED'), 0) <> coalesce((
      SELECT sum(amount - refunded_amount + coalesce((
        SELECT sum(debit.amount) FROM wallet_transactions AS debit WHERE debit.reference_id = payments.id
          AND debit.transaction_reason = 'MANUAL_BALANCE_DEBIT'), 0)) FROM payments
      WHERE destination_id = invoice.id
        AND payment_status IN ('SUCCEEDED', 'OVERPAID', 'PARTIALLY_REFUNDED', 'REFUNDED')), 0)`,
  'sold credits are not taken back beyond what arrived of them': sql.fragment`
    SELECT credit.id FROM wallet_transactions AS credit WHERE type = 'credit' AND amount < coalesce((
      SELECT sum(debit.amount) FROM wallet_transactions AS debit
      WHERE debit.parent_transaction_id = credit.id AND debit.type = 'debit'), 0)`,
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
    { timeout: 12_000 * Math.max(25, ROUNDS) },
    async ({ api, clickhouse, database, gateway }) => {
      const customers: string[] = [];
      for (const name of ['a', 'b', 'c']) {
        customers.push((await api.make('/v1/customers', { external_id: name })).id);
      }
      await api.make('/v1/coupons', {
        ...{ name: 'Ten', coupon_code: 'TEN', type: 'percentage', percentage_off: '10' },
        cadence: 'forever',
      });
      await api.make('/v1/taxes/rates', { name: 'VAT', code: 'VAT', percentage_value: '19' });
      const made = { invoices: [], payments: [], notes: [], wallets: [], charges: [], signals: [] };
      const random = createSeededRandom(seed);
      const plans = await makeAdvancePlans(api, customers[0] ?? '');
      const runner = billingRunner({
        ...{ database: database.database, clickHouse: clickhouse.client },
        environment: api.environment,
      });
      const runJobs = async () => void (await runner.runDue(Date.now()));
      const own = { plans, subscriptions: [], runJobs };
      const world: World = { api, random, customers, gateway, ...own, ...made };
      const answers = new Set<number>();
      const call = api.call;
      const counted: BillingUnderTest['call'] = async (...request) => {
        const answer = await call(...request);
        answers.add(answer.status);
        return answer;
      };
      const counting = { ...world, api: { ...api, call: counted } };
      for (let round = 0; round < ROUNDS; round += 1) {
        const operations = Array.from({ length: CALLERS }, () => drawn(world, OPERATIONS));
        await Promise.all(operations.map(async (operation) => operation?.(counting)));
        await expectBalancedBooks(api);
      }
      await settleCharges(counting);
      await expectBalancedBooks(api);
      await expectChargesCounted(counting);
      expect([...answers].filter((status) => status >= 500)).toEqual([]);
      for (const [law, rows] of Object.entries(LAWS)) {
        const broken = await ownerOf(database.database).any(sql.type(problemRow)`${rows}`);
        expect([law, broken]).toEqual([law, []]);
      }
      expect(counting.invoices.length).toBeGreaterThan(10);
      expect(gateway.stripe.intents.size).toBeGreaterThan(5);
    },
  );
});

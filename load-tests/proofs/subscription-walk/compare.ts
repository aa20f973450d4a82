import { expect } from 'vitest';
import {
  add,
  compare,
  multiply,
  negate,
  zero,
  isNegative,
  type Fraction,
} from '../usage-oracle/fraction.js';
import { exact, whole } from '../pricing-oracle/exact.js';
import { moneyText } from '../pricing-oracle/money.js';
import { costWithTail, CURRENCY } from './model/charges.js';
import { runningOf, type Life, type ModelInvoice, type Payer } from './model/life.js';
import { leftOfBill, openBill } from './model/payments.js';
import { instantText, modelText, productText } from './invoice-text.js';
import type { Fineness } from './walk-catalog.js';
import { ask, type Answer, type WalkWorld } from './walk-world.js';

const isKept = (one: Answer): boolean => ['DRAFT', 'FINALIZED'].includes(one.invoice_status);

/** Invoices that stay: a skipped one has no amount (docs/domain.md 5.2). */
function isStored(invoice: ModelInvoice): boolean {
  if (invoice.finalizeAt !== null || invoice.reason === 'SUBSCRIPTION_TRIAL_START') return true;
  const isSetOff = compare(invoice.setOff, zero) !== 0;
  return isSetOff || invoice.lines.some(({ amount }) => compare(amount, zero) !== 0);
}

function stateOf(life: Life): object {
  const { status, pause } = life;
  if (status === 'draft') return { status };
  const row = runningOf(life);
  // One that is cancelled where its period begins has none that anything is billed of.
  if (status === 'cancelled' && (life.end ?? row.end) <= row.start) return { status };
  const pauseStatus = pause === null ? 'none' : status === 'paused' ? 'active' : 'scheduled';
  return {
    status,
    start: instantText(row.start),
    end: instantText(row.end),
    pause: pauseStatus,
    // Nothing follows where a subscription has ended.
    ...(status === 'cancelled' ? {} : { anchor: instantText(life.anchor.at) }),
    isEnding: life.schedule?.type === 'cancellation',
  };
}

function productState(body: Answer): object {
  const { subscription_status: status } = body;
  if (status === 'draft') return { status };
  return {
    status,
    start: body.current_period_start,
    end: body.current_period_end,
    pause: body.pause_status,
    anchor: body.billing_anchor,
    isEnding: status !== 'cancelled' && body.cancel_at_period_end,
  };
}

/** That no instant of a line item is on two invoices. */
function expectTiles(id: string, invoices: readonly Answer[]): void {
  const lines = invoices
    .filter((one) => one.invoice_type === 'SUBSCRIPTION' || one.billing_reason !== 'PRORATION')
    .flatMap((one) => one.line_items)
    .filter((line: Answer) => !line.amount.startsWith('-'));
  for (const [index, line] of lines.entries()) {
    for (const other of lines.slice(index + 1)) {
      if (other.subscription_line_item_id !== line.subscription_line_item_id) continue;
      const isTwice = other.period_start < line.period_end && line.period_start < other.period_end;
      expect([id, isTwice && [line, other]]).toEqual([id, false]);
    }
  }
}

/** That each final invoice is paid as the model has it. */
function expectPaid({ bills }: Payer, invoices: readonly Answer[]): void {
  const final = invoices.filter((one) => one.invoice_status === 'FINALIZED');
  const expected = final.map(({ id, amount_due: due }) => {
    const bill = bills.get(id) ?? openBill(exact(due));
    const { open, over } = leftOfBill(bill);
    const [paid, left, beyond] = [bill.paid, open, over].map((each) => moneyText(CURRENCY, each));
    return [id, bill.status, paid, left, beyond];
  });
  const found = final.map((one) => [
    one.id,
    one.payment_status,
    one.amount_paid,
    one.amount_remaining,
    one.overpaid_amount,
  ]);
  expect(found).toEqual(expected);
}

/** Compares one subscription: its state, its period, its invoices. */
async function expectAlike(
  world: WalkWorld,
  life: Life,
  invoices: readonly Answer[],
): Promise<void> {
  const id = world.ids.get(life.id) ?? '';
  const body = await ask(world, `/v1/subscriptions/${id}`);
  expect({ id, ...productState(body) }).toMatchObject({ id, ...stateOf(life) });
  const texts = invoices.map(productText).sort();
  expect({ id, invoices: texts }).toEqual({
    id,
    invoices: life.invoices.filter(isStored).map(modelText).sort(),
  });
  expectTiles(id, invoices);
}

/** What the time costs that is invoiced, by the prices that were in force (issue of the tiles). */
function costOfTime(life: Life): Fraction {
  const lines = life.invoices
    .filter(({ finalizeAt }) => finalizeAt === null)
    .flatMap((invoice) => invoice.lines);
  let cost = zero;
  for (const row of life.rows) {
    const settled = life.pieces.filter((piece) => piece.row === row).map(({ itemId }) => itemId);
    const charged = lines.filter((line) => line.row === row).map(({ item }) => item.id);
    const counted = new Set([...settled, ...charged]);
    for (const item of life.items) {
      if (counted.has(item.id) && !row.isTrial) cost = add(cost, costWithTail(item, row));
    }
  }
  return cost;
}

export type Books = {
  readonly charged: Fraction;
  readonly credited: Fraction;
  /** How many amounts were rounded. */
  readonly roundings: number;
};

const total = (items: readonly Answer[], member: string): Fraction =>
  items.reduce((sum: Fraction, one) => add(sum, exact(one[member])), zero);

async function booksOf(world: WalkWorld, payer: Payer, invoices: readonly Answer[]) {
  const query = { customer_ids: [payer.id], limit: 100 };
  const { items } = await ask(world, '/v1/wallets/search', query);
  const finalized = invoices.filter((one) => one.invoice_status === 'FINALIZED');
  return {
    charged: total(finalized, 'subtotal'),
    // What wallets have paid was credited before.
    credited: add(total(items, 'credit_balance'), total(invoices, 'total_prepaid_credits_applied')),
    roundings: payer.roundings + finalized.flatMap((one) => one.line_items).length,
  };
}

/** What was charged less what was credited, less what the time used costs; null: not told. */
export function offBy(payer: Payer, lives: readonly Life[], books: Books): Fraction | null {
  // A coupon leaves less to pay than the time costs.
  if (lives.some(({ terms }) => terms.percentOff !== null)) return null;
  const cost = lives.map(costOfTime).reduce(add, zero);
  // What voided invoices had taken in came back, and was no charge.
  const givenBack = add(books.credited, negate(payer.refunded));
  return add(add(books.charged, negate(givenBack)), negate(cost));
}

/**
 * That it is nothing: exactly where every share is whole cents, else but for half a cent for each
 * amount that was rounded.
 */
export function expectNothing(fineness: Fineness, difference: Fraction, roundings: number): void {
  const size = isNegative(difference) ? negate(difference) : difference;
  const slack = multiply(exact('0.005'), whole(fineness === 'exact' ? 0 : roundings));
  if (compare(size, slack) <= 0) return;
  const shown = Number(difference.numerator) / Number(difference.denominator);
  throw new Error(`what was charged less what was credited is off by ${shown}`);
}

function expectLaw({ model, fineness }: WalkWorld, payer: Payer, books: Books): void {
  expect([payer.id, moneyText(CURRENCY, books.credited)]).toEqual([
    payer.id,
    moneyText(CURRENCY, payer.credited),
  ]);
  const lives = [...model.lives.values()].filter((life) => life.payer === payer);
  const difference = offBy(payer, lives, books);
  if (difference !== null) expectNothing(fineness, difference, books.roundings);
}

/** That no documents give the same money back, or do not agree with the ledger (21.2, 21.3). */
export async function expectRightBooks(world: WalkWorld): Promise<void> {
  expect((await ask(world, '/v1/ledger/verify')).problems).toEqual([]);
}

/** Compares all subscriptions of a payer, and the law of the tiles. */
export async function expectPayer(world: WalkWorld, payer: Payer): Promise<void> {
  const lives = [...world.model.lives.values()].filter((life) => life.payer === payer);
  const query = { customer_id: payer.id, limit: 1000 };
  const { items } = await ask(world, '/v1/invoices/search', query);
  const kept = items.filter(isKept);
  for (const life of lives) {
    const id = world.ids.get(life.id);
    const own = kept.filter((one: Answer) => one.subscription_id === id);
    await expectAlike(world, life, own);
  }
  expectPaid(payer, kept);
  expectLaw(world, payer, await booksOf(world, payer, kept));
}

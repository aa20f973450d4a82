import { createSeededRandom, type SeededRandom } from '../../../harness/seeded-random.js';
import { priceInvoice, type PricedInvoice } from '../invoice.js';
import type { EarlierInvoice, InvoiceQuestion, Reference } from '../invoice-question.js';
import { invoicePeriodsOf } from '../line-selection.js';
import { runningRow } from '../period-ledger.js';
import type { RandomCase } from '../random/random-subscription.js';
import { randomInstantIn } from '../random/random-times.js';
import type { HistoryOperation, LineItem, Subscription } from '../subscription.js';
import type { Range } from '../../usage-oracle/windows.js';
import { earlierInvoice } from './earlier-invoice.js';

/** An invoice of a case: what was asked, of which subscription, and the oracle's answer. */
export type ChainLink = {
  readonly subscription: Subscription;
  readonly question: InvoiceQuestion;
  readonly expected: PricedInvoice;
};

function linkOf(subscription: Subscription, question: InvoiceQuestion): ChainLink {
  return { subscription, question, expected: priceInvoice(subscription, question) };
}

/** A subscription as it is known at an instant, after the first operations of its history. */
type Moment = { readonly at: number; readonly operations: number };

/** Whether the dates of items are set in advance, or known when they are reached. */
type Foresight = { readonly isForeseen: boolean };

function knownItems(items: readonly LineItem[], at: number): readonly LineItem[] {
  return items
    .filter(({ start }) => start <= at)
    .map((item) => (item.end !== null && item.end > at ? { ...item, end: null } : item));
}

function knownAt(
  subscription: Subscription,
  { at, operations }: Moment,
  { isForeseen }: Foresight,
): Subscription {
  return {
    ...subscription,
    history: subscription.history.slice(0, operations),
    items: isForeseen ? subscription.items : knownItems(subscription.items, at),
  };
}

/** Walks through the history of a case and asks for the invoices on the way. */
class Chain {
  readonly links: ChainLink[] = [];
  readonly #earlier: EarlierInvoice[] = [];
  readonly #subscription: Subscription;
  readonly #random: SeededRandom;
  readonly #foresight: Foresight;

  constructor(subscription: Subscription, random: SeededRandom) {
    this.#subscription = subscription;
    this.#random = random;
    this.#foresight = { isForeseen: random.chance(0.5) };
  }

  known(moment: Moment): Subscription {
    return knownAt(this.#subscription, moment, this.#foresight);
  }

  /** Asks without remembering the answer, as for a preview. */
  look(reference: Reference, rowIndex: number, moment: Moment): ChainLink {
    const question = { reference, rowIndex, now: null, earlier: [...this.#earlier] };
    const link = linkOf(this.known(moment), question);
    this.links.push(link);
    return link;
  }

  /** Asks for an invoice that later ones know. */
  invoice(reference: Reference, rowIndex: number, moment: Moment): void {
    const { subscription, question, expected } = this.look(reference, rowIndex, moment);
    const { row } = invoicePeriodsOf(subscription, question);
    this.#earlier.push(earlierInvoice(row, expected));
  }

  /** One time in three a look at the running row, which knows no event of its future. */
  preview(stretch: Range, operations: number): void {
    if (!this.#random.chance(0.3)) return;
    const running = runningRow(this.known({ at: stretch.start, operations }));
    const start = Math.max(stretch.start, running.start);
    const end = Math.min(stretch.end, running.end);
    if (start >= end) return;
    const now = randomInstantIn(this.#random, { start, end });
    const known = this.known({ at: now, operations });
    const events = known.events.filter(({ timestamp }) => timestamp < now);
    const rowIndex = running.index;
    const question = { reference: 'preview' as const, rowIndex, now, earlier: [...this.#earlier] };
    this.links.push(linkOf({ ...known, events }, question));
  }

  /** The ledger is asked before the operation, or after it: the row of the invoice is the same. */
  eitherWay(at: number, operations: number): Moment {
    return { at, operations: operations + (this.#random.chance(0.5) ? 1 : 0) };
  }
}

/** What is invoiced when an operation of the history is made. */
function invoiceOperation(chain: Chain, operation: HistoryOperation, index: number): void {
  const { type, at } = operation;
  const before = { at, operations: index };
  const after = { at, operations: index + 1 };
  const { index: rowIndex } = runningRow(chain.known(before));
  switch (type) {
    case 'trial_end':
      chain.look('period_end', rowIndex, before);
      chain.invoice('period_start', rowIndex + 1, after);
      return;
    case 'renewal':
      chain.invoice('period_end', rowIndex, chain.eitherWay(at, index));
      return;
    case 'threshold':
      chain.invoice('threshold', rowIndex, after);
      return;
    case 'pause':
    case 'cancel':
  }
}

/**
 * The invoices of a case in the order of its history. First comes that of the start, then looks at
 * running rows, one time in three, and what each operation makes due. At last comes the row that is
 * running then, as if it had ended. Each knows what the ones before it billed, and nothing that
 * comes later.
 */
export function invoiceChain(
  seed: number,
  { subscription }: Pick<RandomCase, 'subscription'>,
): readonly ChainLink[] {
  const chain = new Chain(subscription, createSeededRandom(seed + 1));
  const { start, trialEnd, history } = subscription;
  const opening = trialEnd === null ? 'period_start' : 'trial_start';
  chain.invoice(opening, 0, { at: start, operations: 0 });
  let reached = start;
  for (const [index, operation] of history.entries()) {
    chain.preview({ start: reached, end: operation.at }, index);
    invoiceOperation(chain, operation, index);
    reached = operation.at;
  }
  const operations = history.length;
  const { index, end } = runningRow(chain.known({ at: reached, operations }));
  chain.preview({ start: reached, end }, operations);
  chain.invoice('period_end', index, { at: Math.max(reached, end), operations });
  return chain.links;
}

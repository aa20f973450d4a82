import { createSeededRandom } from '../../../harness/seeded-random.js';
import { priceInvoice, type InvoiceLine, type PricedInvoice } from '../invoice.js';
import type { EarlierInvoice, EarlierLine, InvoiceQuestion } from '../invoice-question.js';
import { invoicePeriodsOf } from '../line-selection.js';
import type { RandomCase } from '../random/random-subscription.js';
import { randomInstantIn } from '../random/random-times.js';
import type { LineItem, Subscription } from '../subscription.js';
import type { Range } from '../../usage-oracle/windows.js';

/** An invoice of a case: what was asked, of which subscription, and the oracle's answer. */
export type ChainLink = {
  readonly subscription: Subscription;
  readonly question: InvoiceQuestion;
  readonly expected: PricedInvoice;
};

function earlierLine(line: InvoiceLine): EarlierLine {
  const isInside = line.priceType === 'USAGE' && line.kind === 'charge';
  return {
    itemId: line.itemId,
    start: Date.parse(line.periodStart),
    end: Date.parse(line.periodEnd),
    inCommitment: isInside ? line.amount : '0',
    utilized: line.commitment?.utilized ?? '0',
  };
}

function earlierInvoice(period: Range, { lines, coupons }: PricedInvoice): EarlierInvoice {
  return {
    period: { start: period.start, end: period.end },
    lines: lines.map(earlierLine),
    appliedCouponIds: coupons.map(({ id }) => id),
  };
}

function linkOf(subscription: Subscription, question: InvoiceQuestion): ChainLink {
  return { subscription, question, expected: priceInvoice(subscription, question) };
}

/** The items that exist or, where dates are set in advance, all that ever will. */
function knownItems(items: readonly LineItem[], until: number): readonly LineItem[] {
  return items.filter(({ start }) => start < until);
}

/** A look at a running period, which knows no event of its future. */
function previewOf(subscription: Subscription, question: InvoiceQuestion, now: number): ChainLink {
  const events = subscription.events.filter(({ timestamp }) => timestamp < now);
  return linkOf({ ...subscription, events }, { ...question, reference: 'preview', now });
}

/**
 * The invoices of a case in their order: the opening one, then for every period a preview, one time
 * in three, and the renewal. Each knows what the ones before it billed.
 */
export function invoiceChain(
  seed: number,
  { subscription, periodCount }: RandomCase,
): readonly ChainLink[] {
  const random = createSeededRandom(seed + 1);
  const links: ChainLink[] = [];
  const earlier: EarlierInvoice[] = [];
  const isForeseen = random.chance(0.5);
  const ask = (reference: 'period_start' | 'period_end', rowIndex: number): void => {
    const question = { reference, rowIndex, now: null, earlier: [...earlier] };
    const { period } = invoicePeriodsOf(subscription, question);
    const until = reference === 'period_start' ? period.start + 1 : period.end;
    const items = isForeseen ? subscription.items : knownItems(subscription.items, until);
    const known = { ...subscription, items };
    const link = linkOf(known, question);
    if (reference === 'period_end' && random.chance(0.3)) {
      links.push(previewOf(known, question, randomInstantIn(random, period)));
    }
    links.push(link);
    earlier.push(earlierInvoice(period, link.expected));
  };
  ask('period_start', 0);
  for (let index = 0; index < periodCount; index += 1) ask('period_end', index);
  return links;
}

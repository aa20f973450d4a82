import { priceInvoice, type PricedInvoice } from '../../invoice.js';
import type { EarlierInvoice, Reference } from '../../invoice-question.js';
import { rowAt, runningRow, type LedgerRow } from '../../period-ledger.js';
import { exact, subtract, sum } from '../../exact.js';
import { prepaidPayments } from '../../prepaid.js';
import type { HistoryOperation, Subscription, Wallet } from '../../subscription.js';
import {
  add,
  compare,
  divide,
  toText,
  zero,
  type Fraction,
} from '../../../usage-oracle/fraction.js';
import type { OracleEvent } from '../../../usage-oracle/usage-event.js';
import { earlierInvoice } from '../earlier-invoice.js';
import type { DrawnAction, DrawnLife } from './drawn-life.js';

/** Drafts of the run wait so long for late events (docs/domain.md 16). */
const DELAY_MS = 7_200_000;

/** What an invoice must say; one without a charge is skipped. */
export type ExpectedInvoice = {
  readonly reason: string;
  readonly isSkipped: boolean;
  readonly priced: PricedInvoice;
};

/** An invoice as others of the subscription see it: a draft counts as it was last computed. */
type Entry = {
  readonly rowIndex: number;
  /** When the draft is finalized; null when it is. */
  readonly dueMs: number | null;
  readonly earlier: EarlierInvoice | null;
};

const hasCharge = ({ lines }: PricedInvoice): boolean =>
  lines.some(({ amount }) => Number(amount) !== 0);

/**
 * Wallets after this money came back: it goes to the oldest one of rate 1 that pays everything, or
 * to a new one (docs/domain.md 20.1, 30.1).
 */
function withCredit(wallets: readonly Wallet[], money: Fraction): readonly Wallet[] {
  const takes = (wallet: Wallet): boolean =>
    wallet.conversionRate === '1' && wallet.allowed === 'ALL';
  const createdAt = wallets.length;
  const opened: Wallet = {
    id: `wallet-${createdAt}`,
    createdAt,
    conversionRate: '1',
    creditBalance: '0',
    allowed: 'ALL',
  };
  const all = wallets.some(takes) ? wallets : [...wallets, opened];
  const target = all.filter(takes).toSorted((left, right) => left.createdAt - right.createdAt)[0];
  return all.map((wallet) =>
    wallet === target
      ? { ...wallet, creditBalance: toText(add(exact(wallet.creditBalance), money)) }
      : wallet,
  );
}

function eventsOf({ events }: DrawnLife): readonly (OracleEvent & { readonly knownMs: number })[] {
  return events.map(({ at, properties = {}, knownMs }, index) => ({
    eventId: `event-${index}`,
    eventName: 'call',
    externalCustomerId: 'acme',
    customerId: null,
    source: '',
    timestamp: Date.parse(at),
    receipt: Date.parse(at),
    properties: new Map(Object.entries(properties)),
    knownMs,
  }));
}

/**
 * The invoices that a life must leave behind, worked out by the oracle alone: at each step of the
 * clock what is due by the rules, from the events that were known then.
 */
export class ExpectedLife {
  readonly invoices: ExpectedInvoice[] = [];
  #subscription: Subscription;
  #entries: readonly Entry[] = [];
  #pausedFrom: number | null = null;
  #isOver = false;
  readonly #life: DrawnLife;
  readonly #events: ReturnType<typeof eventsOf>;

  constructor(subscription: Subscription, life: DrawnLife) {
    this.#subscription = subscription;
    this.#life = life;
    this.#events = eventsOf(life);
  }

  get #running(): LedgerRow {
    return runningRow(this.#subscription);
  }

  /** Whether something can be done with it now, after what is due. */
  canNow(action: DrawnAction['type'], nowMs: number): boolean {
    if (this.#isOver || this.#running.start >= nowMs || this.#running.kind === 'trial')
      return false;
    return action !== 'resume' || this.#pausedFrom !== null;
  }

  /** The opening invoice, where anything is charged in advance. */
  open(atMs: number): void {
    if (this.#subscription.trialEnd !== null) {
      const trial = this.#price('trial_start', 0, atMs);
      this.#keep('SUBSCRIPTION_TRIAL_START', trial, 0);
      return;
    }
    const priced = this.#price('period_start', 0, atMs);
    if (priced.lines.length > 0) this.#keep('SUBSCRIPTION_CREATE', priced, 0);
  }

  /** Everything that is due by the rules when the clock shows this instant. */
  turnTo(nowMs: number): void {
    if (!this.#isOver && this.#pausedFrom === null) {
      for (let row = this.#running; row.end <= nowMs; row = this.#running) {
        if (row.kind === 'trial') {
          this.#endTrial(row, nowMs);
          continue;
        }
        this.#happen({ type: 'renewal', at: row.end });
        const earlier = earlierInvoice(row, this.#price('period_end', row.index, nowMs));
        const draft = { rowIndex: row.index, dueMs: row.end + DELAY_MS, earlier };
        this.#entries = [...this.#entries, draft];
      }
    }
    for (const draft of this.#entries) {
      const { rowIndex, dueMs } = draft;
      if (dueMs === null || dueMs > nowMs) continue;
      this.#entries = this.#entries.filter((one) => one !== draft);
      this.#keep('SUBSCRIPTION_CYCLE', this.#price('period_end', rowIndex, nowMs), rowIndex);
    }
  }

  #endTrial(row: LedgerRow, nowMs: number): void {
    this.#happen({ type: 'trial_end', at: row.end });
    const priced = this.#price('period_start', row.index + 1, nowMs);
    this.#keep('SUBSCRIPTION_TRIAL_END', priced, row.index + 1);
  }

  /** Closes the running row where its usage has reached the threshold. */
  lookAtThreshold(nowMs: number): void {
    const { threshold } = this.#life;
    const row = this.#running;
    if (threshold === null || this.#isOver) return;
    if (row.start >= nowMs || row.kind === 'trial') return;
    const before = this.#subscription;
    this.#happen({ type: 'threshold', at: nowMs });
    const priced = this.#price('threshold', row.index, nowMs);
    if (Number(priced.totals.subtotal) >= Number(threshold)) {
      this.#keep('AUTO_INVOICE_THRESHOLD', priced, row.index);
    } else this.#subscription = before;
  }

  pause(nowMs: number): void {
    this.#pausedFrom = nowMs;
  }

  resume(nowMs: number): void {
    const from = this.#pausedFrom;
    if (from === null) throw new Error('nothing is paused');
    this.#pausedFrom = null;
    this.#happen({ type: 'pause', at: nowMs, from });
  }

  cancel(nowMs: number): void {
    const { index } = this.#running;
    this.#happen({ type: 'cancel', at: nowMs, effective: nowMs });
    const priced = this.#price('period_end', index, nowMs);
    if (priced.lines.length > 0) this.#keep('SUBSCRIPTION_CYCLE', priced, index);
    this.#isOver = true;
  }

  #happen(operation: HistoryOperation): void {
    const { history } = this.#subscription;
    this.#subscription = { ...this.#subscription, history: [...history, operation] };
  }

  #price(reference: Reference, rowIndex: number, nowMs: number): PricedInvoice {
    const events = this.#events.filter(({ knownMs }) => knownMs <= nowMs);
    const known = { ...this.#subscription, events };
    const earlier = this.#entries.flatMap((one) => (one.earlier === null ? [] : [one.earlier]));
    return priceInvoice(known, { reference, rowIndex, now: null, earlier });
  }

  #keep(reason: string, priced: PricedInvoice, rowIndex: number): void {
    const isSkipped = !hasCharge(priced) && reason !== 'SUBSCRIPTION_TRIAL_START';
    this.invoices.push({ reason, isSkipped, priced });
    const row = rowAt(this.#subscription, rowIndex);
    if (row === null) throw new Error('an invoice without a row');
    const earlier = isSkipped ? null : earlierInvoice(row, priced);
    this.#entries = [...this.#entries, { rowIndex, dueMs: null, earlier }];
    if (!isSkipped) this.#payFromWallets(priced);
  }

  /** Later invoices find what this one has left in the wallets, or has given to one. */
  #payFromWallets({ lines }: PricedInvoice): void {
    const open = lines.map(({ priceType, amount, lineDiscount, invoiceDiscount }) => ({
      priceType,
      net: subtract(exact(amount), add(exact(lineDiscount), exact(invoiceDiscount))),
    }));
    const { byWallet } = prepaidPayments(this.#subscription, open);
    const wallets = this.#subscription.wallets.map((wallet): Wallet => {
      const credits = divide(byWallet.get(wallet.id) ?? zero, exact(wallet.conversionRate));
      return { ...wallet, creditBalance: toText(subtract(exact(wallet.creditBalance), credits)) };
    });
    const tooMuch = subtract(zero, sum(open.map(({ net }) => net)));
    const given = compare(tooMuch, zero) > 0 ? withCredit(wallets, tooMuch) : wallets;
    this.#subscription = { ...this.#subscription, wallets: given };
  }
}

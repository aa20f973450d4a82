import { decimalOf, plain, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';
import { assertPresent, mustGet } from '../../../runtime/failure.js';
import { ADDONS } from '../../declarations/catalog/addon.resource.js';
import type { PriceRow } from '../../declarations/catalog/price.resource.js';
import type { WalletTransactionRow } from '../../declarations/money/wallet-transaction.resource.js';
import {
  LINE_ITEMS,
  type LineItemRow,
} from '../../declarations/subscriptions/line-item.resource.js';
import type { PriceOverrideBody } from '../../domain/price/price-model.js';
import { ratePrice } from '../../domain/rating/rate-price.js';
import { updateRecord } from '../../records/change-record.js';
import { findRecord } from '../../records/find-record.js';
import { accept, invalid, isRefusal, Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { commitLine } from '../../subscriptions/lines/commit-lines.js';
import {
  commitmentProblem,
  type RequestedCommitment,
} from '../../subscriptions/lines/commitment-request.js';
import {
  overridingPrice,
  priceOfSubscription,
  termsOfPrice,
  type LineContext,
} from '../../subscriptions/lines/line-price.js';
import {
  commitmentOf,
  type AddonOfLine,
  type NewLine,
} from '../../subscriptions/lines/new-line.js';
import { keptTimeBuckets } from '../../subscriptions/lines/stored-commitments.js';
import { storeLines } from '../../subscriptions/lines/store-lines.js';
import { findLineContext } from '../open/lines.js';
import { isAdvance } from '../settle/find-unused.js';
import {
  readSettlement,
  settleChange,
  storeSettlement,
  type LineTerms,
  type Settled,
  type Settlement,
} from './settle-lines.js';
import { instantRefusal, type HeldLine } from './held-line.js';

/** What a line item is to have from an instant on; null members stay as they are. */
export type LineChange = {
  readonly quantity: Decimal | null;
  /** What its price is to say instead. */
  readonly model: PriceOverrideBody | null;
  readonly commitment: RequestedCommitment | null;
  /** Whether the request names time buckets: otherwise those of the line stay. */
  readonly hasTimeBuckets: boolean;
  readonly atMs: InstantMs;
  /** The member of the request that gives the instant, and the one that gives the quantity. */
  readonly members: { readonly at: string; readonly quantity: string };
};

/** A line item that goes on as a successor, and how the rest of its period was settled. */
export type ReplacedLine = Settled & {
  readonly before: LineItemRow;
  readonly after: LineItemRow;
};

function commitmentRefusal({ row, loaded }: HeldLine): Refusal | null {
  const problem =
    row.price_type === 'USAGE'
      ? commitmentProblem(loaded.subscription)
      : 'goes only with a line item of usage';
  return problem === null ? null : invalid({ commitment_type: problem });
}

function lineRefusal(held: HeldLine, change: LineChange): Refusal | null {
  const { row } = held;
  const { members, quantity, atMs, commitment } = change;
  if (row.billing_period === 'ONETIME') {
    const problem = 'a ONETIME line item is charged once; end it, and add another one';
    return new Refusal('invalid_operation', problem);
  }
  if (quantity !== null && row.price_type !== 'FIXED') {
    const problem = 'only recurring fixed line items have a quantity that changes';
    return new Refusal('invalid_operation', problem);
  }
  if (quantity?.isNegative() === true) return invalid({ [members.quantity]: 'must be 0 or more' });
  const problem = commitment === null ? null : commitmentRefusal(held);
  return problem ?? instantRefusal(held, members.at, atMs);
}

/** What the line item is to cost from the change on. */
function termsAfter({ row }: HeldLine, { quantity: text, price }: NewLine): LineTerms {
  const quantity = decimalOf(assertPresent(text, 'the quantity of a successor'));
  const full = row.price_type === 'FIXED' ? ratePrice(termsOfPrice(price), quantity).amount : ZERO;
  return { item: row, quantity, full };
}

/**
 * The settlement as its invoice shows it: on the successor; of the same price, with what the
 * quantity has risen by.
 */
function shownOn(after: LineItemRow, settlement: Settlement): Settlement {
  const lines = settlement.lines.map((line) => {
    const before = after.price_id === line.item.price_id ? decimalOf(line.item.quantity) : ZERO;
    return { ...line, item: after, quantity: line.quantity.minus(before) };
  });
  return { ...settlement, lines };
}

/**
 * Gives back what is unused of a line item that ends at an instant of the running period, as a
 * quantity of 0 does; null where that is nothing (docs/domain.md 27).
 */
export async function creditEndedLine(
  unit: Unit,
  held: HeldLine,
  { member, atMs }: { readonly member: string; readonly atMs: InstantMs },
): Promise<WalletTransactionRow | null> {
  const { row, loaded } = held;
  if (!isAdvance(row)) return null;
  accept(instantRefusal(held, member, atMs));
  const lines = [{ item: row, quantity: ZERO, full: ZERO }];
  const settled = await settleChange(unit, loaded, { atMs, lines });
  return settled.transaction;
}

/** The name and the start of the addon that brings a line; null for every other one. */
async function addonOf(
  unit: Unit,
  { entity_type: type, entity_id: id, addon_association_id: associationId }: LineItemRow,
  startMs: InstantMs,
): Promise<AddonOfLine | null> {
  if (type !== 'addon' || associationId === null) return null;
  const { name } = assertPresent(await findRecord(unit, ADDONS, id), 'the addon of a line');
  return { id, name, associationId, startMs };
}

/** The line item as its successor begins, before what the request changes. */
async function successorOf(
  unit: Unit,
  { row }: HeldLine,
  { price, atMs }: { readonly price: PriceRow; readonly atMs: InstantMs },
): Promise<NewLine> {
  return {
    entityType: row.entity_type,
    addon: await addonOf(unit, row, atMs),
    priceId: price.id,
    price: { kind: 'stored', row: price },
    endMs: row.end_date,
    quantity: row.quantity,
    displayName: row.display_name,
    metadata: row.metadata,
    timeBuckets: [],
    commitment: commitmentOf(row),
  };
}

/** The successor with what the request changes. */
function changedLine(
  line: NewLine,
  { held, change, base }: { held: HeldLine; change: LineChange; base: PriceRow },
  context: LineContext,
): NewLine | Refusal {
  const { quantity, model, commitment, hasTimeBuckets } = change;
  const price = model === null ? line.price : overridingPrice(base, model, context);
  if (isRefusal(price)) return price;
  const priced = { ...line, price, quantity: quantity === null ? line.quantity : plain(quantity) };
  const committed = commitment === null ? priced : commitLine(priced, commitment, context);
  if (isRefusal(committed) || committed.timeBuckets.length > 0) return committed;
  const kept = keptTimeBuckets(base, held.loaded.related.prices);
  if (kept.length === 0) return committed;
  // Time buckets are stored on the price: without them the line has a price of its own.
  const own = { kind: 'new', price: priceOfSubscription(committed.price, context) } as const;
  if (hasTimeBuckets) return { ...committed, price: own };
  if (!committed.commitment.commitment_windowed) {
    const remedy = 'must be true while the line has time buckets; [] removes these';
    return invalid({ commitment_windowed: remedy });
  }
  return { ...committed, price: own, timeBuckets: kept };
}

/** The successor of a line item, with the meters of its price. */
async function newLineOf(
  unit: Unit,
  held: HeldLine,
  change: LineChange,
): Promise<{ readonly line: NewLine; readonly meters: LineContext['meters'] }> {
  const { subscription: row, related } = held.loaded;
  const base = mustGet(related.prices, held.row.price_id, 'the price of a line');
  const { commitment, model, atMs } = change;
  const terms = {
    currency: row.currency,
    billingPeriod: row.billing_period,
    addedLines: [],
    billingPeriodCount: row.billing_period_count,
    commitments: commitment === null ? [] : [commitment],
  };
  const wanted = { request: terms, subscriptionId: row.id };
  const context = await findLineContext(unit, wanted, { planPrices: [base], addons: [] });
  const line = await successorOf(unit, held, { price: base, atMs });
  // A quantity alone changes nothing of the price, so that its time buckets stay where they are.
  if (commitment === null && model === null) {
    const quantity = change.quantity === null ? line.quantity : plain(change.quantity);
    return { line: { ...line, quantity }, meters: context.meters };
  }
  const changed = accept(changedLine(line, { held, change, base }, context));
  return { line: changed, meters: context.meters };
}

type Successor = {
  readonly line: NewLine;
  readonly meters: LineContext['meters'];
  readonly atMs: InstantMs;
  /** Whether its first period in advance is settled by the change. */
  readonly isSettled: boolean;
};

/**
 * Stores what follows a line item from an instant on. What was to follow it later follows the new
 * one, so that one line of succession has all of them, each once.
 */
async function storeSuccessor(
  unit: Unit,
  { row, loaded }: HeldLine,
  { line, meters, atMs, isSettled }: Successor,
): Promise<LineItemRow> {
  const { id: subscriptionId, customer_id: customerId, ...terms } = loaded.subscription;
  const plan = mustGet(loaded.related.plans, terms.plan_id, 'the plan of a subscription');
  const isRunning = atMs < terms.current_period_end;
  const stored = await storeLines(
    unit,
    { subscriptionId, customerId, startMs: atMs, plan, isRunning },
    { lines: [{ ...line, continues: { id: row.id, isSettled } }], meters },
  );
  const after = assertPresent(stored.lineItems[0], 'the successor of a line item');
  const later = loaded.related.lineItems.filter((item) => item.predecessor_id === row.id);
  for (const item of later) {
    const patch = { predecessor_id: after.id };
    await updateRecord(unit, LINE_ITEMS, { row: item, patch });
  }
  return after;
}

/**
 * Gives a line item another quantity, price or commitment from an instant on: it ends there, and
 * its successor begins. What was charged in advance for the rest of the period is settled at once:
 * an invoice for more, credits of a wallet for less (docs/domain.md 27).
 */
export async function replaceLine(
  unit: Unit,
  held: HeldLine,
  change: LineChange,
): Promise<ReplacedLine> {
  accept(lineRefusal(held, change));
  const made = await newLineOf(unit, held, change);
  const { row, loaded } = held;
  const { atMs } = change;
  const lines = [termsAfter(held, made.line)];
  const settlement = await readSettlement(unit, loaded, { atMs, lines });
  const before = await updateRecord(unit, LINE_ITEMS, { row, patch: { end_date: atMs } });
  const isSettled = settlement.lines.length > 0;
  const after = await storeSuccessor(unit, held, { ...made, atMs, isSettled });
  const settled = await storeSettlement(unit, loaded, shownOn(after, settlement));
  return { before, after, ...settled };
}

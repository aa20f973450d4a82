import { add, zero, type Fraction } from '../../usage-oracle/fraction.js';
import { smaller, sum } from '../../pricing-oracle/exact.js';
import { itemsOfAddon } from './addons.js';
import { advanceLines, creditOf, isChargedAhead, cycleLines, giveBack, less } from './charges.js';
import { createLife, type NewLife } from './create.js';
import {
  runningOf,
  type ChangeTerms,
  type Life,
  type ModelInvoice,
  type Row,
  type Status,
} from './life.js';
import {
  completePause,
  computeDrafts,
  draftCycle,
  hasAmount,
  invoiceNow,
  type ModelWorld,
} from './invoices.js';

export type Ending = {
  readonly at: number;
  readonly isProrated: boolean;
  /** Whether the last period gets its invoice (24.5). */
  readonly hasInvoice: boolean;
};

/** Items that have not ended before an instant, and their lineages. */
export function lineagesAt({ items }: Life, at: number): readonly string[] {
  const alive = items.filter(({ cadence, end }) => cadence === 'ADVANCE' && (end ?? at) >= at);
  return [...new Set(alive.map(({ lineage }) => lineage))];
}

/**
 * Ends the line items that still run. Without prorations, what is charged in advance stays charged
 * in full; on a draft, only if its period has begun (24.5).
 */
function endItems(life: Life, { at, isProrated }: Ending): void {
  const row = runningOf(life);
  const invoices = life.invoices.filter(({ finalizeAt }) => finalizeAt === null || at > row.start);
  for (const item of life.items) {
    const end = item.end ?? row.end;
    if (isProrated) item.tail = null;
    if (item.end !== null && item.end <= at) continue;
    if (isProrated) item.paidTo = null;
    else if (isChargedAhead({ ...life, invoices }, item, row)) item.paidTo ??= { row, end };
    item.end = at;
  }
}

/** The final invoice of an ending (24.5); null without an amount. */
function invoiceEnd(life: Life, row: Row): ModelInvoice | null {
  const lines = cycleLines(life, { row, next: null, own: null });
  const named = { reason: 'SUBSCRIPTION_CYCLE', start: row.start, end: row.end, lines };
  return hasAmount(lines) ? invoiceNow(life, named) : null;
}

/** Ends a subscription at once (24.3). @returns credits by lineage, and the final invoice. */
export function endAtOnce(life: Life, ending: Ending) {
  const { at, isProrated, hasInvoice } = ending;
  // What the pause has held back is never charged, as none of its time was used (26).
  if (life.status === 'paused') completePause(life, at);
  const row = runningOf(life);
  const credits = isProrated ? lineagesAt(life, at).map((each) => creditOf(life, each, at)) : [];
  endItems(life, ending);
  const isBegun = at > row.start;
  // One that ends where its period begins keeps that period, of which nothing is billed.
  if (isBegun) row.end = at;
  life.end = at;
  life.status = 'cancelled' satisfies Status;
  life.pause = null;
  life.schedule = null;
  computeDrafts(life);
  const final = hasInvoice && !row.isTrial && isBegun ? invoiceEnd(life, row) : null;
  return { credits: credits.filter((credit) => credit.numerator !== 0n), final };
}

export type Change = {
  readonly terms: ChangeTerms;
  readonly at: number;
  readonly isAtEnd: boolean;
  /** Where the successor is already known: its id. */
  readonly id?: string;
};

function endOld(life: Life, { at, isAtEnd, terms }: Change) {
  const row = runningOf(life);
  if (!isAtEnd) {
    const { isProrated } = terms;
    return endAtOnce(life, { at, isProrated, hasInvoice: life.status !== 'trialing' });
  }
  // Where nothing is due in arrear there is no invoice (25.5).
  const lines = cycleLines(life, { row, next: null, own: null });
  if (!row.isTrial && lines.length > 0) draftCycle(life, row, null);
  for (const item of life.items) item.end ??= at;
  life.status = 'cancelled' satisfies Status;
  life.schedule = null;
  life.pause = null;
  return { credits: [] as readonly Fraction[], final: null };
}

/** Makes a change of plan (25.3, 25.5): the old subscription ends, and another one begins. */
export function executeChange(life: Life, world: ModelWorld, change: Change): Life {
  const { terms, at } = change;
  const keptEnd = life.end;
  const { credits, final } = endOld(life, change);
  const next: NewLife = {
    id: change.id ?? `${life.id}+`,
    plan: terms.plan,
    payer: life.payer,
    start: at,
    end: keptEnd,
    terms: { ...life.terms, ...terms, trialDays: 0 },
  };
  const made = createLife(next);
  // Active addons go on, each by its own prices (25.3).
  for (const { addon, isActive } of life.addons) {
    if (!isActive) continue;
    const kept = { id: `${made.id}/z${made.addons.length}`, addon, isActive };
    made.addons.push(kept);
    made.items.push(...itemsOfAddon(kept, { at, isAdded: false }));
  }
  world.lives.set(made.id, made);
  const row = runningOf(made);
  const lines = advanceLines(made, row);
  const opening =
    lines.length === 0
      ? final
      : invoiceNow(made, { reason: 'SUBSCRIPTION_UPDATE', start: row.start, end: row.end, lines });
  const credit = sum(credits);
  const charged = sum((opening?.lines ?? []).map(({ net }) => net));
  const setOff = smaller(credit, charged);
  if (opening !== null) opening.setOff = setOff;
  giveBack(life, less(credit, opening === null ? zero : setOff));
  if (credits.length > 0) life.isCredited = true;
  life.payer.roundings += credits.length;
  return made;
}

/** What an invoice comes to before coupons. */
export function subtotalOf({ lines, setOff }: ModelInvoice): Fraction {
  return less(
    lines.reduce((total, { amount }) => add(total, amount), zero),
    setOff,
  );
}

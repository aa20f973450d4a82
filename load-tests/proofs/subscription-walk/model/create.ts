import { zero } from '../../usage-oracle/fraction.js';
import { advanceLines } from './charges.js';
import { runningOf, type Item, type Life, type ModelPlan, type Payer, type Terms } from './life.js';
import { beginRows } from './rows.js';

export type NewLife = {
  readonly id: string;
  readonly plan: ModelPlan;
  readonly payer: Payer;
  readonly terms: Terms;
  readonly start: number;
  readonly end: number | null;
};

function itemsOf({ id, plan, start }: NewLife): Item[] {
  return plan.prices.map(({ amount, cadence }, index) => ({
    id: `${id}/${index}`,
    order: [start, String(index)],
    lineage: `${id}/${index}`,
    cadence,
    amount,
    quantity: '1',
    start,
    end: null,
    paidTo: null,
    tail: null,
    settled: null,
    isAdded: false,
    addonId: null,
  }));
}

/** A subscription with its first row and no invoice. */
export function createLife(made: NewLife): Life {
  const { id, plan, payer, terms, start, end } = made;
  const life: Life = {
    id,
    terms,
    plan,
    payer,
    start,
    end,
    status: terms.trialDays > 0 ? 'trialing' : 'active',
    anchor: { at: start, number: 0 },
    rows: [],
    items: itemsOf(made),
    addons: [],
    invoices: [],
    pieces: [],
    isCredited: false,
    pause: null,
    schedule: null,
    trialEnd: start,
  };
  beginRows(life);
  return life;
}

/** Its opening invoice (22.1), or the zero invoice of its trial (22.4). */
export function openLife(life: Life): void {
  const row = runningOf(life);
  const lines = row.isTrial ? [] : advanceLines(life, row);
  if (!row.isTrial && lines.length === 0) return;
  life.invoices.push({
    reason: row.isTrial ? 'SUBSCRIPTION_TRIAL_START' : 'SUBSCRIPTION_CREATE',
    start: row.start,
    end: row.end,
    lines,
    setOff: zero,
    finalizeAt: null,
    compute: () => lines,
  });
}

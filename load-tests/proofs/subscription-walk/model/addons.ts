import { add, compare, zero } from '../../usage-oracle/fraction.js';
import { subtract } from '../../pricing-oracle/exact.js';
import {
  creditOf,
  discountOf,
  fullCharge,
  giveBack,
  less,
  notePiece,
  restCharge,
  rounded,
} from './charges.js';
import { computeDrafts, invoiceNow } from './invoices.js';
import { runningOf, type Addon, type Item, type Life, type ModelAddon } from './life.js';

/** Lines of an addon, behind those of the plan that begin with it. */
export function itemsOfAddon(
  { id, addon }: Addon,
  { at, isAdded }: { readonly at: number; readonly isAdded: boolean },
): readonly Item[] {
  return addon.prices.map(({ amount, cadence }, index) => ({
    id: `${id}/${index}`,
    order: [at, `${id}/${index}`],
    lineage: `${id}/${index}`,
    cadence,
    amount,
    quantity: '1',
    start: at,
    end: null,
    paidTo: null,
    tail: null,
    settled: null,
    isAdded,
    addonId: id,
  }));
}

export type NewAddon = { readonly id: string; readonly addon: ModelAddon };

/** Adds an addon now (27). */
export function addAddon(life: Life, at: number, made: NewAddon & { isProrated: boolean }): void {
  const addon = { id: made.id, addon: made.addon, isActive: true };
  life.addons.push(addon);
  const row = runningOf(life);
  let gross = zero;
  for (const item of itemsOfAddon(addon, { at, isAdded: true })) {
    const amount = rounded(restCharge(life, fullCharge(item), at));
    const isSettled = made.isProrated && item.cadence === 'ADVANCE' && compare(amount, zero) !== 0;
    life.items.push({ ...item, settled: isSettled ? row : null });
    if (!isSettled) continue;
    gross = add(gross, amount);
    life.payer.roundings += 1;
    notePiece(life, { item, at, net: subtract(amount, rounded(discountOf(life, amount))) });
  }
  computeDrafts(life);
  if (compare(gross, zero) === 0) return;
  const { end } = row;
  const invoice = invoiceNow(life, { reason: 'SUBSCRIPTION_UPDATE', start: at, end, lines: [] });
  invoice.setOff = less(zero, gross);
}

/** Removes an addon now, with a credit for what is unused, or at the end of the period (27). */
export function removeAddon(life: Life, addon: Addon, at: number): void {
  addon.isActive = false;
  const items = life.items.filter(({ addonId, end }) => addonId === addon.id && end === null);
  for (const item of items) {
    const isInside = item.cadence === 'ADVANCE' && at < runningOf(life).end;
    const credit = isInside ? creditOf(life, item.lineage, at) : zero;
    if (compare(credit, zero) !== 0) {
      giveBack(life, credit);
      life.payer.roundings += 1;
      notePiece(life, { item, at, net: less(zero, credit) });
    }
    item.end = at;
  }
  computeDrafts(life);
}

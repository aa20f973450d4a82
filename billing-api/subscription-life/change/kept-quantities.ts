import { decimalOf, plain } from '../../../contract/number/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';
import type { PriceRow } from '../../declarations/catalog/price.resource.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import { invalid, type Refusal } from '../../records/refusal.js';
import type { LineOverride } from '../../subscriptions/lines/override-lines.js';

type Named = Pick<LineItemRow, 'display_name'> | Pick<PriceRow, 'display_name'>;

/** Recurring fixed lines have a quantity that somebody has chosen. */
function hasQuantity(line: {
  readonly type: PriceRow['type'];
  readonly billing_period: PriceRow['billing_period'];
}): boolean {
  return line.type === 'FIXED' && line.billing_period !== 'ONETIME';
}

/** The lines with a quantity that live at an instant, of the plan or of addons. */
function countedLines(
  lineItems: readonly LineItemRow[],
  entityType: LineItemRow['entity_type'],
  atMs: InstantMs,
): readonly LineItemRow[] {
  return lineItems.filter(
    ({ price_type: type, billing_period, entity_type, start_date, end_date }) =>
      entity_type === entityType &&
      hasQuantity({ type, billing_period }) &&
      start_date <= atMs &&
      atMs < (end_date ?? Infinity),
  );
}

/**
 * The line of the new plan that each line of the old one becomes (docs/domain.md 25.3): the only
 * one of each plan, or the one with the same name; null where no line, or more than one, has it.
 */
function successorsOf<Old extends Named, New extends Named>(
  before: readonly Old[],
  after: readonly New[],
): readonly (readonly [Old, New | null])[] {
  const [only] = after;
  if (before.length === 1 && after.length === 1 && only !== undefined) {
    return before.map((line) => [line, only] as const);
  }
  return before.map((line) => {
    const isSame = ({ display_name: name }: Named): boolean => name === line.display_name;
    const [found, ...others] = after.filter(isSame);
    const isOnly = others.length === 0 && before.filter(isSame).length === 1;
    return [line, isOnly ? (found ?? null) : null] as const;
  });
}

const isSeveral = ({ quantity }: LineItemRow): boolean => decimalOf(quantity).greaterThan(1);

/** What new lines have instead of their own quantities, to keep those of the old ones. */
export function keptQuantities(
  lineItems: readonly LineItemRow[],
  { prices, atMs }: { readonly prices: readonly PriceRow[]; readonly atMs: InstantMs },
  given: readonly LineOverride[],
): readonly LineOverride[] | Refusal {
  const pairs = successorsOf(countedLines(lineItems, 'plan', atMs), prices.filter(hasQuantity));
  const lost = pairs.find(([line, price]) => price === null && isSeveral(line));
  if (lost !== undefined) {
    const [{ display_name: name, quantity }] = lost;
    const problem = `the line "${name}" of ${quantity} has no line of the new plan with this name`;
    return invalid({
      keep_quantities: `${problem}; leave it out, and give quantities by override_line_items`,
    });
  }
  const kept = pairs.flatMap(([{ quantity }, price]) => {
    const isGiven = given.some((one) => one.priceId === price?.id && one.quantity !== null);
    if (price === null || isGiven) return [];
    const model = given.find(({ priceId }) => priceId === price.id)?.model ?? null;
    return [{ priceId: price.id, quantity: decimalOf(quantity), model }];
  });
  return [...given.filter((one) => kept.every(({ priceId }) => priceId !== one.priceId)), ...kept];
}

/** What a preview says of a line whose quantity is lowered, or that nothing takes the place of. */
function warningOf(
  [before, after]: readonly [LineItemRow, LineItemRow | null],
  remedy: string,
): readonly string[] {
  const quantity = plain(decimalOf(before.quantity));
  if (after === null) {
    if (!isSeveral(before)) return [];
    return [
      `"${before.display_name}" of ${quantity} ends, and no line of the new plan has its name`,
    ];
  }
  if (!decimalOf(after.quantity).lessThan(before.quantity)) return [];
  const now = plain(decimalOf(after.quantity));
  return [`the quantity of "${before.display_name}" falls from ${quantity} to ${now}; ${remedy}`];
}

/** The quantities that a change of plan lowers, each with what keeps it. */
export function loweredQuantities(
  before: readonly LineItemRow[],
  after: readonly LineItemRow[],
  atMs: InstantMs,
): readonly string[] {
  const ofPlan = successorsOf(
    countedLines(before, 'plan', atMs),
    countedLines(after, 'plan', atMs),
  );
  const newAddons = countedLines(after, 'addon', atMs);
  const ofAddons = countedLines(before, 'addon', atMs).flatMap((line) => {
    const same = newAddons.find(({ price_id: id }) => id === line.price_id);
    return same === undefined ? [] : [[line, same] as const];
  });
  const keeps = 'keep_quantities or override_line_items keep it';
  return [
    ...ofPlan.flatMap((pair) => warningOf(pair, keeps)),
    ...ofAddons.flatMap((pair) => warningOf(pair, 'change the line item afterwards')),
  ];
}

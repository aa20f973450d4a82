import type { Decimal } from '../../../contract/number/decimal.js';
import type { DecimalText } from '../../../contract/wire-types.js';
import type { PriceRow } from '../../declarations/catalog/price.resource.js';
import { overridesModel, type PriceOverrideBody } from '../../domain/price/price-model.js';
import type { MemberReader } from '../../records/member-rules.js';
import { collect, invalid, isRefusal, nestedRefusal, type Refusal } from '../../records/refusal.js';
import { overridingPrice, type LineContext } from './line-price.js';
import { lineQuantity, readQuantity } from './line-quantity.js';
import { NO_COMMITMENT, type NewLine } from './new-line.js';
import { handOverOf } from './succeeded-prices.js';

/**
 * What a line has instead of what its price says. Anything but a quantity makes a price of the
 * subscription, whose parent is the plan's.
 * @example {"price_id": "price_01KAHZ3M4N5P6Q7R8S9T0V1W2X", "amount": "0.002"}
 */
export interface OverrideLineItemBody extends PriceOverrideBody {
  /** A price of the plan that matches the subscription. */
  price_id: string;
  /** Of a FIXED line; 0 means the price's default. */
  quantity?: DecimalText;
}

/** What a line of the subscription has instead of what the plan's price says. */
export type LineOverride = {
  readonly priceId: string;
  /** Of a FIXED line; null and 0 mean the price's own default. */
  readonly quantity: Decimal | null;
  /** Null when only the quantity differs: the plan's price itself is then used. */
  readonly model: PriceOverrideBody | null;
};

/** Reads the overrides of a request; every price once. */
export function readOverrides(
  reader: MemberReader,
  bodies: readonly OverrideLineItemBody[] = [],
  member = 'override_line_items',
): readonly LineOverride[] {
  const seen = new Set<string>();
  return bodies.map((body, index) => {
    const place = `${member}.${index}`;
    const quantity = readQuantity(reader, place, body.quantity);
    if (seen.has(body.price_id)) reader.note(`${place}.price_id`, 'must not be given twice');
    seen.add(body.price_id);
    return { priceId: body.price_id, quantity, model: overridesModel(body) ? body : null };
  });
}

/** The lines of a plan: one for every price of it that matches, in the order of these. */
export function newPlanLines(
  prices: readonly PriceRow[],
  overrides: readonly LineOverride[],
  context: LineContext,
): readonly NewLine[] | Refusal {
  const unknown = overrides.findIndex((one) => !prices.some((price) => price.id === one.priceId));
  if (unknown >= 0) {
    const member = `override_line_items.${unknown}.price_id`;
    return invalid({ [member]: 'must be a price of the plan that matches the subscription' });
  }
  return collect({ items: prices, isBulk: false }, (base) => {
    const index = overrides.findIndex((one) => one.priceId === base.id);
    const line = newPlanLine(base, { override: overrides[index], prices }, context);
    return isRefusal(line) ? nestedRefusal(line, `override_line_items.${index}`) : line;
  });
}

function newPlanLine(
  base: PriceRow,
  {
    override,
    prices,
  }: { readonly override: LineOverride | undefined; readonly prices: readonly PriceRow[] },
  context: LineContext,
): NewLine | Refusal {
  const line: NewLine = {
    entityType: 'plan',
    addon: null,
    priceId: base.id,
    price: { kind: 'stored', row: base },
    endMs: handOverOf(base, prices),
    quantity: null,
    displayName: null,
    metadata: {},
    commitment: NO_COMMITMENT,
    timeBuckets: [],
  };
  return override === undefined ? line : overriddenLine(line, { base, override }, context);
}

/** A line with what an override gives in place of what its price says. */
function overriddenLine(
  line: NewLine,
  { base, override }: { readonly base: PriceRow; readonly override: LineOverride },
  context: LineContext,
): NewLine | Refusal {
  const quantity = lineQuantity(override.quantity, base);
  if (isRefusal(quantity)) return quantity;
  if (override.model === null) return { ...line, quantity };
  const price = overridingPrice(base, override.model, context);
  return isRefusal(price) ? price : { ...line, quantity, price };
}

/** Lines with stored prices, such as those of an addon, with what overrides give instead. */
export function overrideLines(
  lines: readonly NewLine[],
  overrides: readonly LineOverride[],
  context: LineContext,
): readonly NewLine[] | Refusal {
  const unknown = overrides.findIndex(({ priceId }) =>
    lines.every((line) => line.priceId !== priceId),
  );
  if (unknown >= 0) {
    const member = `override_line_items.${unknown}.price_id`;
    return invalid({ [member]: 'must be a price of the addon that matches the subscription' });
  }
  return collect({ items: lines, isBulk: false }, (line) => {
    const index = overrides.findIndex(({ priceId }) => priceId === line.priceId);
    const override = overrides[index];
    if (override === undefined || line.price.kind !== 'stored') return line;
    const changed = overriddenLine(line, { base: line.price.row, override }, context);
    return isRefusal(changed) ? nestedRefusal(changed, `override_line_items.${index}`) : changed;
  });
}

import { Decimal, parseRequestDecimal } from '../../../contract/number/decimal.js';
import type { DecimalText } from '../../../contract/wire-types.js';
import { isPriceRefusal, refuse, type PriceRefusal } from './price-refusal.js';

const TIERS_MAX = 100;

/** A tier of a price body. */
export interface TierBody {
  readonly unit_amount: DecimalText;
  readonly flat_amount?: DecimalText | null;
  /**
   * Inclusive; absent on the last tier.
   * @isInt
   * @minimum 1
   * @maximum 9007199254740991
   */
  readonly up_to?: number | null;
}

/**
 * A range of quantity with its own amounts. The last tier of a price, and only the last, has no
 * upper bound (`upTo` null).
 */
export type Tier = {
  readonly unitAmount: Decimal;
  /** Added once when the tier is entered; null counts as 0. */
  readonly flatAmount: Decimal | null;
  /** Inclusive upper bound, a positive safe integer. */
  readonly upTo: number | null;
};

/** The amounts of a price: one, or tiers, or both where a model does not use one of them. */
export type Figures = { readonly amount: Decimal | null; readonly tiers: readonly Tier[] | null };

/** Reads an amount of a request: a plain decimal that is not negative. */
export function amountFrom(text: string, member: string): Decimal | PriceRefusal {
  const value = parseRequestDecimal(text);
  if (!(value instanceof Decimal)) {
    const remedy = 'give a plain decimal text with at most 18 fraction digits, up to 1000000000000';
    return refuse('decimal_malformed', member, remedy);
  }
  if (value.lessThan(0)) return refuse('amount_negative', member, 'give an amount of 0 or more');
  return value;
}

/** Reads the tiers of a request and checks them against docs/domain.md 3.2. */
function tiersFrom(bodies: readonly TierBody[], member: string): readonly Tier[] | PriceRefusal {
  if (bodies.length < 1 || bodies.length > TIERS_MAX) {
    return refuse('tier_count_out_of_range', member, `give 1 to ${TIERS_MAX} tiers`);
  }
  const tiers: Tier[] = [];
  for (const [index, body] of bodies.entries()) {
    const tier = tierFrom(body, `${member}.${index}`);
    if (isPriceRefusal(tier)) return tier;
    tiers.push(tier);
  }
  return boundsRefusal(tiers, member) ?? tiers;
}

function tierFrom(body: TierBody, member: string): Tier | PriceRefusal {
  const unitAmount = amountFrom(body.unit_amount, `${member}.unit_amount`);
  if (isPriceRefusal(unitAmount)) return unitAmount;
  const flatText = body.flat_amount ?? null;
  const flatAmount = flatText === null ? null : amountFrom(flatText, `${member}.flat_amount`);
  if (flatAmount !== null && isPriceRefusal(flatAmount)) return flatAmount;
  return { unitAmount, flatAmount, upTo: body.up_to ?? null };
}

/** Bounds are strictly ascending positive integers, and the last tier alone has none. */
function boundsRefusal(tiers: readonly Tier[], member: string): PriceRefusal | null {
  let lowerBound = 0;
  for (const [index, { upTo }] of tiers.entries()) {
    const isLast = index === tiers.length - 1;
    if ((upTo === null) !== isLast) {
      const remedy = 'leave up_to out of the last tier and give it in all others';
      return refuse('tiers_without_open_end', `${member}.${index}.up_to`, remedy);
    }
    if (upTo !== null && !(Number.isSafeInteger(upTo) && upTo > lowerBound)) {
      const remedy = `give an integer greater than ${lowerBound}`;
      return refuse('tiers_not_ascending', `${member}.${index}.up_to`, remedy);
    }
    lowerBound = upTo ?? lowerBound;
  }
  return null;
}

/** The figures of a request, and the names of the members in which they stand. */
export type FigureSource = {
  readonly amount: string | undefined;
  readonly tiers: readonly TierBody[] | undefined;
  readonly amountMember: string;
  readonly tiersMember: string;
};

/** Reads the figures of a request; an empty text and an empty list count as absent. */
export function figuresFrom(source: FigureSource): Figures | PriceRefusal {
  const { amount: text, tiers: bodies } = source;
  const hasAmount = text !== undefined && text !== '';
  const amount = hasAmount ? amountFrom(text, source.amountMember) : null;
  if (amount !== null && isPriceRefusal(amount)) return amount;
  const hasTiers = bodies !== undefined && bodies.length > 0;
  const tiers = hasTiers ? tiersFrom(bodies, source.tiersMember) : null;
  if (tiers !== null && isPriceRefusal(tiers)) return tiers;
  return { amount, tiers };
}

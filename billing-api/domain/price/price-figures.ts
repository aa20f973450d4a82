import { Decimal, parseRequestDecimal } from '../../../contract/decimal.js';
import type { Tier, TransformQuantity } from './price.js';
import type { PriceRefusal, PriceRequest, TierRequest } from './price-request.js';
import { isPriceRefusal, refuse } from './price-request.js';

const TIERS_MAX = 100;

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

/** Reads the tiers of a request and checks them against domain.md 3.2. */
function tiersFrom(
  requests: readonly TierRequest[],
  member: string,
): readonly Tier[] | PriceRefusal {
  if (requests.length < 1 || requests.length > TIERS_MAX) {
    return refuse('tier_count_out_of_range', member, `give 1 to ${TIERS_MAX} tiers`);
  }
  const tiers: Tier[] = [];
  for (const [index, request] of requests.entries()) {
    const tier = tierFrom(request, `${member}.${index}`);
    if (isPriceRefusal(tier)) return tier;
    tiers.push(tier);
  }
  return boundsRefusal(tiers, member) ?? tiers;
}

function tierFrom(request: TierRequest, member: string): Tier | PriceRefusal {
  const unitAmount = amountFrom(request.unitAmount, `${member}.unit_amount`);
  if (isPriceRefusal(unitAmount)) return unitAmount;
  const flatText = request.flatAmount ?? null;
  const flatAmount = flatText === null ? null : amountFrom(flatText, `${member}.flat_amount`);
  if (flatAmount !== null && isPriceRefusal(flatAmount)) return flatAmount;
  return { unitAmount, flatAmount, upTo: request.upTo ?? null };
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

/** The amounts of a price: one, or tiers, or both where a model does not use one of them. */
export type Figures = { readonly amount: Decimal | null; readonly tiers: readonly Tier[] | null };

/** Where a request gives figures, and under which names. */
export type FigureSource = {
  readonly amount: string | null | undefined;
  readonly tiers: readonly TierRequest[] | null | undefined;
  readonly amountMember: string;
  readonly tiersMember: string;
};

/** Reads the figures of a request; an empty text and an empty list count as absent. */
export function figuresFrom(source: FigureSource): Figures | PriceRefusal {
  const text = source.amount ?? '';
  const amount = text === '' ? null : amountFrom(text, source.amountMember);
  if (amount !== null && isPriceRefusal(amount)) return amount;
  const requests = source.tiers ?? [];
  const tiers = requests.length === 0 ? null : tiersFrom(requests, source.tiersMember);
  if (tiers !== null && isPriceRefusal(tiers)) return tiers;
  return { amount, tiers };
}

export function transformFrom(request: PriceRequest): TransformQuantity | null {
  const transform = request.transformQuantity ?? null;
  if (transform === null) return null;
  return { divideBy: transform.divideBy, round: transform.round ?? 'up' };
}

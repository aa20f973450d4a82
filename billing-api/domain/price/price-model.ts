import type { Decimal } from '../../../contract/decimal.js';
import type { DecimalText } from '../../../contract/wire-types.js';
import {
  amountFrom,
  figuresFrom,
  type Figures,
  type Tier,
  type TierBody,
} from './price-figures.js';
import { isPriceRefusal, refuse, type PriceRefusal } from './price-refusal.js';
import {
  overriddenUnitFigures,
  unitFiguresFrom,
  type PriceUnitBody,
  type PriceUnitContext,
  type PriceUnitFigures,
  type PriceUnitOverrideBody,
} from './price-unit.js';

/** How a price turns a quantity into money (docs/domain.md 8); each has a function in `rating/`. */
export const BILLING_MODELS = ['FLAT_FEE', 'PACKAGE', 'TIERED'] as const;
export type BillingModel = (typeof BILLING_MODELS)[number];

export const TIER_MODES = ['VOLUME', 'SLAB'] as const;
export type TierMode = (typeof TIER_MODES)[number];

export interface TransformQuantityBody {
  /**
   * @isInt
   * @minimum 1
   * @maximum 9007199254740991
   */
  readonly divide_by: number;
  /** @default "up" */
  readonly round?: 'up' | 'down';
}

/** Members of a price body that turn a quantity into money; an override of a price has the same. */
export interface PriceModelBody {
  readonly billing_model?: BillingModel;
  readonly amount?: DecimalText;
  readonly tier_mode?: TierMode;
  /** @maxItems 100 */
  readonly tiers?: readonly TierBody[];
  readonly transform_quantity?: TransformQuantityBody;
  /**
   * The most that a line of this USAGE price is charged for a billing period, in the currency of
   * the price. It holds after tiers, allowance and commitment of the line.
   */
  readonly max_amount?: DecimalText;
}

export type TransformQuantity = {
  /** At least 1. */
  readonly divideBy: number;
  readonly round: 'up' | 'down';
};

/**
 * The members that turn a quantity into money. Those the billing model does not use may be present
 * and are never billed (docs/domain.md 3.2). Amounts are in the price's currency, unrounded.
 */
export type PriceModel = {
  readonly billingModel: BillingModel;
  /** Present for FLAT_FEE and PACKAGE. */
  readonly amount: Decimal | null;
  readonly tierMode: TierMode;
  /** Present for TIERED, ascending. */
  readonly tiers: readonly Tier[] | null;
  /** Present for PACKAGE. */
  readonly transformQuantity: TransformQuantity | null;
  /** The most that a line is charged for a billing period; absent where there is no maximum. */
  readonly maxAmount?: Decimal;
};

/** A model, with the figures of a CUSTOM price in its own unit; null for FIAT. */
export type PriceModelTerms = PriceModel & { readonly priceUnitFigures: PriceUnitFigures | null };

/** Reads how a price turns a quantity into money; the figures of a CUSTOM price become fiat. */
export function modelFrom(
  body: PriceModelBody & PriceUnitBody,
  context: PriceUnitContext,
): PriceModelTerms | PriceRefusal {
  const custom = unitFiguresFrom(body, context);
  if (custom !== null && isPriceRefusal(custom)) return custom;
  const figures = custom === null ? fiatFiguresFrom(body) : custom.inFiat;
  if (isPriceRefusal(figures)) return figures;
  const maximum = maximumFrom(body);
  if (isPriceRefusal(maximum)) return maximum;
  const transformQuantity = transformFrom(body);
  return {
    ...figures,
    ...maximum,
    billingModel: body.billing_model ?? impliedModel(figures, transformQuantity),
    tierMode: body.tier_mode ?? 'VOLUME',
    transformQuantity,
    priceUnitFigures: custom?.figures ?? null,
  };
}

function impliedModel(figures: Figures, transform: TransformQuantity | null): BillingModel {
  if (figures.tiers !== null) return 'TIERED';
  return transform === null ? 'FLAT_FEE' : 'PACKAGE';
}

/** The maximum that a body gives; without a member where it gives none. */
function maximumFrom({
  max_amount: text,
}: PriceModelBody): Pick<PriceModel, 'maxAmount'> | PriceRefusal {
  if (text === undefined) return {};
  const maxAmount = amountFrom(text, 'max_amount');
  if (isPriceRefusal(maxAmount)) return maxAmount;
  return maxAmount.isZero()
    ? refuse('maximum_zero', 'max_amount', 'give an amount above 0, or leave it out')
    : { maxAmount };
}

function fiatFiguresFrom({ amount, tiers }: PriceModelBody): Figures | PriceRefusal {
  return figuresFrom({ amount, tiers, amountMember: 'amount', tiersMember: 'tiers' });
}

function transformFrom({
  transform_quantity: transform,
}: PriceModelBody): TransformQuantity | null {
  if (transform === undefined) return null;
  return { divideBy: transform.divide_by, round: transform.round ?? 'up' };
}

/** What an override can give in place of a price's own. */
export interface PriceOverrideBody extends PriceModelBody, PriceUnitOverrideBody {}

/**
 * Every member of an override; `overriddenModel` reads each. One that is left out here does not
 * compile: an override that gave it alone would be overlooked, and bill the price of the plan.
 */
const OVERRIDE_MEMBERS: Readonly<Record<keyof PriceOverrideBody, true>> = {
  billing_model: true,
  amount: true,
  tier_mode: true,
  tiers: true,
  transform_quantity: true,
  max_amount: true,
  price_unit_amount: true,
  price_unit_tiers: true,
};

/** Whether an override gives anything in place of the price's own. */
export function overridesModel(override: PriceOverrideBody): boolean {
  const members = Object.keys(OVERRIDE_MEMBERS) as readonly (keyof PriceOverrideBody)[];
  return members.some((member) => override[member] !== undefined);
}

/**
 * The model of a price with the members that an override gives (docs/domain.md 9.5). Members that
 * it gives imply the billing model, as they do for a new price.
 */
export function overriddenModel(
  base: PriceModelTerms,
  override: PriceOverrideBody,
): PriceModelTerms | PriceRefusal {
  const custom = overriddenUnitFigures(base.priceUnitFigures, override);
  if (custom !== null && isPriceRefusal(custom)) return custom;
  const amounts = overriddenAmounts(base, override, custom?.inFiat ?? null);
  if (isPriceRefusal(amounts)) return amounts;
  return {
    ...amounts,
    billingModel: overriddenBillingModel(base, override),
    tierMode: override.tier_mode ?? base.tierMode,
    transformQuantity: transformFrom(override) ?? base.transformQuantity,
    priceUnitFigures: custom?.figures ?? null,
  };
}

/** The figures in money, those of a price unit converted, and the maximum. */
function overriddenAmounts(
  base: PriceModel,
  override: PriceModelBody,
  ofUnit: Figures | null,
): (Figures & Pick<PriceModel, 'maxAmount'>) | PriceRefusal {
  const figures = ofUnit ?? overriddenFiatFigures(base, override);
  if (isPriceRefusal(figures)) return figures;
  const maximum = overriddenMaximum(base, override);
  return isPriceRefusal(maximum) ? maximum : { ...figures, ...maximum };
}

function overriddenMaximum(
  { maxAmount }: PriceModel,
  override: PriceModelBody,
): Pick<PriceModel, 'maxAmount'> | PriceRefusal {
  const isKept = override.max_amount === undefined && maxAmount !== undefined;
  return isKept ? { maxAmount } : maximumFrom(override);
}

function overriddenFiatFigures(base: PriceModel, override: PriceModelBody): Figures | PriceRefusal {
  const given = fiatFiguresFrom(override);
  if (isPriceRefusal(given)) return given;
  return {
    amount: override.amount === undefined ? base.amount : given.amount,
    tiers: override.tiers === undefined ? base.tiers : given.tiers,
  };
}

function overriddenBillingModel(base: PriceModel, override: PriceOverrideBody): BillingModel {
  if (override.billing_model !== undefined) return override.billing_model;
  if (override.tiers !== undefined || override.price_unit_tiers !== undefined) return 'TIERED';
  return override.transform_quantity === undefined ? base.billingModel : 'PACKAGE';
}

/** What each billing model needs of a price. */
const NEEDS: Readonly<Record<BillingModel, (price: PriceModelTerms) => PriceRefusal | null>> = {
  FLAT_FEE: hasAmount,
  PACKAGE: (price) => hasAmount(price) ?? hasTransform(price),
  TIERED: hasTiers,
};

/** A rule of docs/domain.md 3.2: the price has what its billing model needs. */
export function hasWhatItsModelNeeds(price: PriceModelTerms): PriceRefusal | null {
  return NEEDS[price.billingModel](price) ?? hasWholeDivisor(price);
}

/** The member of the body in which a figure of the price stands. */
function figureMember(price: PriceModelTerms, fiat: string, custom: string): string {
  return price.priceUnitFigures === null ? fiat : `price_unit_config.${custom}`;
}

function hasAmount(price: PriceModelTerms): PriceRefusal | null {
  if (price.amount !== null) return null;
  const member = figureMember(price, 'amount', 'amount');
  return refuse('amount_missing', member, `a ${price.billingModel} price needs an amount`);
}

function hasTransform(price: PriceModelTerms): PriceRefusal | null {
  if (price.transformQuantity !== null) return null;
  const remedy = 'a PACKAGE price needs transform_quantity with divide_by';
  return refuse('transform_quantity_missing', 'transform_quantity', remedy);
}

function hasTiers(price: PriceModelTerms): PriceRefusal | null {
  if (price.tiers !== null) return null;
  const member = figureMember(price, 'tiers', 'price_unit_tiers');
  return refuse('tiers_missing', member, 'a TIERED price needs tiers');
}

function hasWholeDivisor({ transformQuantity: transform }: PriceModel): PriceRefusal | null {
  const isWhole = transform === null || Number.isSafeInteger(transform.divideBy);
  if (isWhole && (transform === null || transform.divideBy >= 1)) return null;
  const member = 'transform_quantity.divide_by';
  return refuse('divide_by_below_one', member, 'give an integer of 1 or more');
}

import type { Decimal } from '../../../contract/number/decimal.js';
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
  const given = { ...figures, transformQuantity: transformFrom(body) };
  return {
    ...given,
    ...maximum,
    billingModel: body.billing_model ?? impliedModel((name) => given[name] !== null, 'FLAT_FEE'),
    tierMode: body.tier_mode ?? 'VOLUME',
    priceUnitFigures: custom?.figures ?? null,
  };
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
 * Every member of an override, with what it gives of the model; `overriddenModel` reads each. One
 * that is left out here does not compile: an override that gave it alone would be overlooked, and
 * bill the price of the plan.
 */
const OVERRIDE_MEMBERS: Readonly<Record<keyof PriceOverrideBody, keyof PriceModel>> = {
  billing_model: 'billingModel',
  amount: 'amount',
  tier_mode: 'tierMode',
  tiers: 'tiers',
  transform_quantity: 'transformQuantity',
  max_amount: 'maxAmount',
  price_unit_amount: 'amount',
  price_unit_tiers: 'tiers',
};

/** What an override gives in place of the price's own. */
function overriddenMembers(override: PriceOverrideBody): readonly (keyof PriceModel)[] {
  const members = Object.keys(OVERRIDE_MEMBERS) as readonly (keyof PriceOverrideBody)[];
  return members
    .filter((member) => override[member] !== undefined)
    .map((member) => OVERRIDE_MEMBERS[member]);
}

/** Whether an override gives anything in place of the price's own. */
export function overridesModel(override: PriceOverrideBody): boolean {
  return overriddenMembers(override).length > 0;
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
  const given = overriddenMembers(override);
  if (override.billing_model !== undefined) return override.billing_model;
  return impliedModel((name) => given.includes(name), base.billingModel);
}

/** The members by which a price may imply its model; each is null where it has none. */
type ImplyingMember = keyof Figures | 'transformQuantity';

/** What is to be said of a billing model when a price is made. */
type ModelRules = {
  /** What it needs of a price. */
  readonly needs: (price: PriceModelTerms) => PriceRefusal | null;
  /** The member that makes it the model of a price that names none; null: no member does. */
  readonly impliedBy: ImplyingMember | null;
};

/** Where a price has the members of several, the first of them is implied. */
const MODELS: Readonly<Record<BillingModel, ModelRules>> = {
  TIERED: { needs: hasTiers, impliedBy: 'tiers' },
  PACKAGE: {
    needs: (price) => hasAmount(price) ?? hasTransform(price),
    impliedBy: 'transformQuantity',
  },
  FLAT_FEE: { needs: hasAmount, impliedBy: null },
};

/** The model that the given members imply, where they imply one. */
function impliedModel(
  isGiven: (member: ImplyingMember) => boolean,
  otherwise: BillingModel,
): BillingModel {
  const models = Object.keys(MODELS) as readonly BillingModel[];
  const implied = models.find((model) => {
    const { impliedBy } = MODELS[model];
    return impliedBy !== null && isGiven(impliedBy);
  });
  return implied ?? otherwise;
}

/** A rule of docs/domain.md 3.2: the price has what its billing model needs. */
export function hasWhatItsModelNeeds(price: PriceModelTerms): PriceRefusal | null {
  return MODELS[price.billingModel].needs(price) ?? hasWholeDivisor(price);
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

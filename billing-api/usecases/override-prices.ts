import { plain, type Decimal } from '../../contract/decimal.js';
import { completePrice } from '../domain/complete-price.js';
import { isPriceRefusal, type PriceRequest, type TierRequest } from '../domain/price-request.js';
import type { BillingModel, TierMode } from '../domain/price.js';
import { priceTermsToColumns } from '../store/price-terms.js';
import type { PriceRow, TierColumn } from '../store/prices.js';
import type { NewRow } from '../store/records.js';
import type { MemberReader } from './member-rules.js';
import { invalid, isRefusal, type Refusal } from './refusal.js';

/** One element of `override_line_items` (domain.md 9.5) as it came. */
export type OverrideRequest = {
  readonly price_id: string;
  readonly quantity?: string | undefined;
  readonly billing_model?: BillingModel | undefined;
  readonly amount?: string | undefined;
  readonly tier_mode?: TierMode | undefined;
  readonly tiers?:
    | readonly {
        readonly unit_amount: string;
        readonly flat_amount?: string | undefined;
        readonly up_to?: number | undefined;
      }[]
    | undefined;
  readonly transform_quantity?:
    { readonly divide_by: number; readonly round?: 'up' | 'down' | undefined } | undefined;
};

/** What a line of the subscription has instead of what the plan's price says. */
export type PriceOverride = {
  readonly priceId: string;
  /** Of a FIXED line; null and 0 mean the price's own default. */
  readonly quantity: Decimal | null;
  /** Null when only the quantity differs: the plan's price itself is then used. */
  readonly request: OverrideRequest | null;
};

const PRICING_MEMBERS = [
  'billing_model',
  'amount',
  'tier_mode',
  'tiers',
  'transform_quantity',
] as const;

/** Reads the overrides of a request; every price once. */
export function readOverrides(
  reader: MemberReader,
  requests: readonly OverrideRequest[] | undefined,
): readonly PriceOverride[] {
  const seen = new Set<string>();
  return (requests ?? []).map((request, index) => {
    const place = `override_line_items.${index}`;
    reader.later(request, ['price_unit_amount', 'price_unit_tiers']);
    const quantity = reader.decimal(`${place}.quantity`, request.quantity);
    if (quantity?.lessThan(0) === true) reader.note(`${place}.quantity`, 'is less than 0');
    if (seen.has(request.price_id)) reader.note(`${place}.price_id`, 'is there twice');
    seen.add(request.price_id);
    const isPriced = PRICING_MEMBERS.some((member) => request[member] !== undefined);
    return { priceId: request.price_id, quantity, request: isPriced ? request : null };
  });
}

/** The price of a line, its default quantity already replaced, and the row of a new price. */
export type OverriddenPrice = {
  readonly base: PriceRow;
  readonly quantity: string | null;
  /** Null when the line keeps the plan's price. */
  readonly columns: NewRow | null;
};

function tierRequestOf(tier: TierColumn): TierRequest {
  return { unitAmount: tier.unit_amount, flatAmount: tier.flat_amount, upTo: tier.up_to };
}

/** Members that an override sets imply the model, as they do for a new price. */
function modelOf(base: PriceRow, request: OverrideRequest): BillingModel {
  if (request.billing_model !== undefined) return request.billing_model;
  if (request.tiers !== undefined) return 'TIERED';
  return request.transform_quantity === undefined ? base.billing_model : 'PACKAGE';
}

function figuresOf(base: PriceRow, request: OverrideRequest): Partial<PriceRequest> {
  const { tiers, transform_quantity: transform } = request;
  return {
    amount: request.amount ?? base.amount,
    tierMode: request.tier_mode ?? base.tier_mode,
    tiers:
      tiers === undefined
        ? base.tiers?.map(tierRequestOf)
        : tiers.map((tier) => ({
            unitAmount: tier.unit_amount,
            flatAmount: tier.flat_amount,
            upTo: tier.up_to,
          })),
    transformQuantity:
      transform === undefined
        ? base.transform_quantity && {
            divideBy: base.transform_quantity.divide_by,
            round: base.transform_quantity.round,
          }
        : { divideBy: transform.divide_by, round: transform.round },
  };
}

/** The plan's price as a request again, with what the override changes. */
function priceRequestOf(base: PriceRow, request: OverrideRequest): PriceRequest {
  return {
    ...figuresOf(base, request),
    currency: base.currency,
    type: base.type,
    billingModel: modelOf(base, request),
    billingCadence: base.billing_cadence,
    billingPeriod: base.billing_period,
    billingPeriodCount: base.billing_period_count,
    invoiceCadence: base.invoice_cadence,
    meterId: base.meter_id,
    filterValues: base.filter_values,
    minQuantity: base.min_quantity === null ? null : Number(base.min_quantity),
    trialPeriodDays: base.trial_period_days,
    startMs: base.start_date,
    endMs: base.end_date,
  };
}

type Owner = { readonly subscriptionId: string; readonly nowMs: number };

/** The columns of the SUBSCRIPTION price that replaces a plan's price; its parent is the root. */
function columnsOf(base: PriceRow, request: OverrideRequest, owner: Owner): NewRow | Refusal {
  const terms = completePrice(priceRequestOf(base, request), {
    nowMs: owner.nowMs,
    owner: { entityType: 'SUBSCRIPTION', entityId: owner.subscriptionId },
    priceUnit: null,
  });
  if (isPriceRefusal(terms)) return invalid({ [terms.member]: terms.remedy });
  return {
    ...priceTermsToColumns(terms),
    // Exactly as it was: the request form would have passed it through a number.
    min_quantity: base.min_quantity,
    display_name: base.display_name,
    description: base.description,
    lookup_key: null,
    parent_price_id: base.parent_price_id ?? base.id,
    metadata: base.metadata,
  };
}

function quantityRefusal(base: PriceRow, override: PriceOverride): string | null {
  const isGiven = override.quantity !== null && !override.quantity.isZero();
  return base.type === 'USAGE' && isGiven ? 'usage lines have no quantity of their own' : null;
}

/** Applies the overrides to the matching prices of a plan, in the order of these. */
export function overridePrices(
  prices: readonly PriceRow[],
  overrides: readonly PriceOverride[],
  owner: Owner,
): readonly OverriddenPrice[] | Refusal {
  const stranger = overrides.findIndex((one) => !prices.some((price) => price.id === one.priceId));
  if (stranger >= 0) {
    const member = `override_line_items.${stranger}.price_id`;
    return invalid({ [member]: 'is no price of the plan that matches the subscription' });
  }
  const results: OverriddenPrice[] = [];
  for (const base of prices) {
    const index = overrides.findIndex((one) => one.priceId === base.id);
    const result = overrideOne(base, overrides[index], owner);
    if (isRefusal(result)) return placedRefusal(result, index);
    results.push(result);
  }
  return results;
}

function overrideOne(
  base: PriceRow,
  override: PriceOverride | undefined,
  owner: Owner,
): OverriddenPrice | Refusal {
  if (override === undefined) return { base, quantity: null, columns: null };
  const problem = quantityRefusal(base, override);
  if (problem !== null) return invalid({ quantity: problem });
  const given = override.quantity;
  const quantity = given === null || given.isZero() ? null : plain(given);
  if (override.request === null) return { base, quantity, columns: null };
  const columns = columnsOf(base, override.request, owner);
  return isRefusal(columns) ? columns : { base, quantity, columns };
}

function placedRefusal(refusal: Refusal, index: number): Refusal {
  const details = Object.entries(refusal.details ?? {});
  return invalid(
    Object.fromEntries(
      details.map(([member, text]) => [`override_line_items.${index}.${member}`, text]),
    ),
  );
}

import { plain, type Decimal } from '../../../contract/decimal.js';
import { completePrice } from '../../domain/price/complete-price.js';
import {
  isPriceRefusal,
  type PriceRequest,
  type TierRequest,
} from '../../domain/price/price-request.js';
import type { BillingModel, TierMode } from '../../domain/price/price.js';
import { priceFromRow } from '../../catalog/prices/price-terms.js';
import type { PriceRow, TierColumn } from '../../catalog/prices/prices-store.js';
import {
  keptOf,
  NO_COMMITMENT,
  type DraftContext,
  type DraftPrice,
  type LineDraft,
} from './line-draft.js';
import type { MemberReader } from '../../records/member-rules.js';
import { invalid, isRefusal, nestedRefusal, type Refusal } from '../../records/refusal.js';

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

/** The SUBSCRIPTION price that replaces a plan's price; its parent is the root. */
function newPriceOf(
  base: PriceRow,
  request: OverrideRequest,
  { now, subscriptionId }: DraftContext,
): DraftPrice | Refusal {
  const terms = completePrice(priceRequestOf(base, request), {
    nowMs: now,
    owner: { entityType: 'SUBSCRIPTION', entityId: subscriptionId },
    priceUnit: null,
  });
  if (isPriceRefusal(terms)) return invalid({ [terms.member]: terms.remedy });
  // Exactly as it was: the request form has passed it through a number.
  const { minQuantity } = priceFromRow(base);
  return { kind: 'new', price: { terms: { ...terms, minQuantity }, kept: keptOf(base) } };
}

function quantityRefusal(base: PriceRow, override: PriceOverride): Refusal | null {
  const isGiven = override.quantity !== null && !override.quantity.isZero();
  if (base.type !== 'USAGE' || !isGiven) return null;
  return invalid({ quantity: 'usage lines have no quantity of their own' });
}

/** The lines of a plan: one for every price of it that matches, in the order of these. */
export function draftPlanLines(
  prices: readonly PriceRow[],
  overrides: readonly PriceOverride[],
  context: DraftContext,
): readonly LineDraft[] | Refusal {
  const stranger = overrides.findIndex((one) => !prices.some((price) => price.id === one.priceId));
  if (stranger >= 0) {
    const member = `override_line_items.${stranger}.price_id`;
    return invalid({ [member]: 'is no price of the plan that matches the subscription' });
  }
  const drafts: LineDraft[] = [];
  for (const base of prices) {
    const index = overrides.findIndex((one) => one.priceId === base.id);
    const draft = draftOf(base, overrides[index], context);
    if (isRefusal(draft)) return nestedRefusal(draft, `override_line_items.${index}`);
    drafts.push(draft);
  }
  return drafts;
}

function draftOf(
  base: PriceRow,
  override: PriceOverride | undefined,
  context: DraftContext,
): LineDraft | Refusal {
  const draft: LineDraft = {
    entityType: 'plan',
    priceId: base.id,
    price: { kind: 'stored', row: base },
    quantity: null,
    displayName: null,
    metadata: {},
    commitment: NO_COMMITMENT,
    timeBuckets: [],
  };
  if (override === undefined) return draft;
  const refusal = quantityRefusal(base, override);
  if (refusal !== null) return refusal;
  const given = override.quantity;
  const quantity = given === null || given.isZero() ? null : plain(given);
  if (override.request === null) return { ...draft, quantity };
  const price = newPriceOf(base, override.request, context);
  return isRefusal(price) ? price : { ...draft, quantity, price };
}

import type { PriceRequest, TierRequest } from '../../domain/price/price-request.js';
import type {
  BillingModel,
  InvoiceCadence,
  PriceBillingPeriod,
  PriceOwnerType,
  PriceType,
  PriceUnitType,
  TierMode,
} from '../../domain/price/price.js';
import type { BillingCadence } from '../../domain/calendar/billing-grid.js';
import { MemberReader } from '../../records/member-rules.js';
import { isRefusal, nestedRefusal, type Refusal } from '../../records/refusal.js';

type TierBody = {
  readonly unit_amount: string;
  readonly flat_amount?: string | undefined;
  readonly up_to?: number | undefined;
};
export type Metadata = Readonly<Record<string, string | number | boolean>>;

/** A price as a request names it (api.md 3.3), its types already checked, without its owner. */
export type InlinePriceRequest = {
  readonly amount?: string | undefined;
  readonly currency: string;
  readonly type?: PriceType | undefined;
  readonly billing_model?: BillingModel | undefined;
  readonly billing_cadence?: BillingCadence | undefined;
  readonly billing_period?: PriceBillingPeriod | undefined;
  readonly billing_period_count?: number | undefined;
  readonly invoice_cadence?: InvoiceCadence | undefined;
  readonly meter_id?: string | undefined;
  readonly filter_values?: Readonly<Record<string, string | readonly string[]>> | undefined;
  readonly tier_mode?: TierMode | undefined;
  readonly tiers?: readonly TierBody[] | undefined;
  readonly transform_quantity?:
    { readonly divide_by: number; readonly round?: 'up' | 'down' | undefined } | undefined;
  readonly min_quantity?: number | undefined;
  readonly trial_period_days?: number | undefined;
  readonly price_unit_type?: PriceUnitType | undefined;
  readonly price_unit_config?:
    | {
        readonly price_unit: string;
        readonly amount?: string | undefined;
        readonly price_unit_tiers?: readonly TierBody[] | undefined;
      }
    | undefined;
  readonly lookup_key?: string | undefined;
  readonly display_name?: string | undefined;
  readonly description?: string | undefined;
  readonly group_id?: string | undefined;
  readonly start_date?: string | undefined;
  readonly end_date?: string | undefined;
  readonly metadata?: Metadata | undefined;
};

/** The same with its owner. */
export type PriceBodyRequest = InlinePriceRequest & {
  readonly entity_id?: string | undefined;
  readonly entity_type?: PriceOwnerType | undefined;
  readonly plan_id?: string | undefined;
  readonly addon_id?: string | undefined;
  readonly subscription_id?: string | undefined;
};

/** One price of a request: what decides money, and what is only kept. */
export type PriceCommand = {
  readonly request: PriceRequest;
  readonly kept: {
    readonly display_name: string | null;
    readonly description: string | null;
    readonly lookup_key: string | null;
    readonly metadata: Metadata;
  };
};

function tierRequest(tier: TierBody): TierRequest {
  return { unitAmount: tier.unit_amount, flatAmount: tier.flat_amount, upTo: tier.up_to };
}

function priceUnitRequest({
  price_unit_config: config,
}: InlinePriceRequest): PriceRequest['priceUnitConfig'] {
  if (config === undefined) return undefined;
  return {
    priceUnit: config.price_unit,
    amount: config.amount,
    priceUnitTiers: config.price_unit_tiers?.map(tierRequest),
  };
}

function ownerRequest(body: PriceBodyRequest): Partial<PriceRequest> {
  return {
    entityId: body.entity_id,
    entityType: body.entity_type,
    planId: body.plan_id,
    addonId: body.addon_id,
    subscriptionId: body.subscription_id,
  };
}

function priceRequest(body: PriceBodyRequest, reader: MemberReader): PriceRequest {
  const transform = body.transform_quantity;
  return {
    ...ownerRequest(body),
    currency: body.currency,
    type: body.type,
    billingModel: body.billing_model,
    amount: body.amount,
    tierMode: body.tier_mode,
    tiers: body.tiers?.map(tierRequest),
    transformQuantity:
      transform === undefined
        ? undefined
        : { divideBy: transform.divide_by, round: transform.round },
    billingCadence: body.billing_cadence,
    billingPeriod: body.billing_period,
    billingPeriodCount: body.billing_period_count,
    invoiceCadence: body.invoice_cadence,
    meterId: body.meter_id,
    filterValues: body.filter_values,
    minQuantity: body.min_quantity,
    trialPeriodDays: body.trial_period_days,
    priceUnitType: body.price_unit_type,
    priceUnitConfig: priceUnitRequest(body),
    startMs: reader.instant('start_date', body.start_date),
    endMs: reader.instant('end_date', body.end_date),
  };
}

/** A price body as a command, or what is wrong with its dates, metadata and unavailable members. */
export function priceCommandFrom(body: PriceBodyRequest): PriceCommand | Refusal {
  const reader = new MemberReader();
  reader.later(body, ['group_id']);
  const request = priceRequest(body, reader);
  const metadata = { ...reader.metadata(body.metadata) };
  return (
    reader.refusal() ?? {
      request,
      kept: {
        display_name: body.display_name ?? null,
        description: body.description ?? null,
        lookup_key: body.lookup_key ?? null,
        metadata,
      },
    }
  );
}

/** The bodies of a bulk request; a refusal names the index of the first bad one. */
export function priceCommandsFrom(
  bodies: readonly PriceBodyRequest[],
): readonly PriceCommand[] | Refusal {
  const commands: PriceCommand[] = [];
  for (const [index, body] of bodies.entries()) {
    const command = priceCommandFrom(body);
    if (isRefusal(command)) return nestedRefusal(command, `items.${index}`);
    commands.push(command);
  }
  return commands;
}

import type { PriceRequest, TierRequest } from '../../domain/price-request.js';
import type { PriceCommand } from '../../usecases/create-prices.js';
import { MemberReader } from '../../usecases/member-rules.js';
import { invalid, isRefusal, type Refusal } from '../../usecases/refusal.js';
import type { CreatePriceBody, TierBody } from './price-dto.js';

function tierRequest(tier: TierBody): TierRequest {
  return { unitAmount: tier.unit_amount, flatAmount: tier.flat_amount, upTo: tier.up_to };
}

function priceUnitRequest(body: CreatePriceBody): PriceRequest['priceUnitConfig'] {
  const config = body.price_unit_config;
  if (config === undefined) return undefined;
  return {
    priceUnit: config.price_unit,
    amount: config.amount,
    priceUnitTiers: config.price_unit_tiers?.map(tierRequest),
  };
}

function ownerRequest(body: CreatePriceBody): Partial<PriceRequest> {
  return {
    entityId: body.entity_id,
    entityType: body.entity_type,
    planId: body.plan_id,
    addonId: body.addon_id,
    subscriptionId: body.subscription_id,
  };
}

function priceRequest(body: CreatePriceBody, reader: MemberReader): PriceRequest {
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
export function priceCommandFrom(body: CreatePriceBody): PriceCommand | Refusal {
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
  bodies: readonly CreatePriceBody[],
): readonly PriceCommand[] | Refusal {
  const commands: PriceCommand[] = [];
  for (const [index, body] of bodies.entries()) {
    const command = priceCommandFrom(body);
    if (isRefusal(command)) {
      const details = Object.entries(command.details ?? {});
      return invalid(
        Object.fromEntries(details.map(([name, text]) => [`items.${index}.${name}`, text])),
      );
    }
    commands.push(command);
  }
  return commands;
}

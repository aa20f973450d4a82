import type { InstantMs } from '../../../contract/instant.js';
import { completePrice, type PriceOwner } from '../../domain/price/complete-price.js';
import {
  requestedOwnerOf,
  type PriceOwnerBody,
  type RequestedOwner,
} from '../../domain/price/price-owner.js';
import { isPriceRefusal, type PriceRefusal } from '../../domain/price/price-refusal.js';
import type { PriceBody, PriceTerms } from '../../domain/price/price.js';
import { MemberReader } from '../../records/member-rules.js';
import {
  invalid,
  isRefusal,
  notFound,
  type Refusal,
  NOT_PUBLISHED,
} from '../../records/refusal.js';
import type { MetadataDto } from '../../records/record-dto.js';
import type { MeterRow } from '../../declarations/catalog/meter.resource.js';
import type { PriceUnitsByCode } from '../price-units/price-units-store.js';
import type { InlinePriceBody } from '../../declarations/catalog/price-bodies.js';
import { type PassthroughColumns } from '../../declarations/catalog/price.resource.js';

/** A price of a request whose dates and metadata are read and whose other members are as sent. */
export type PriceCommand = {
  readonly body: PriceBody & PriceOwnerBody;
  /** Null for now. */
  readonly startMs: InstantMs | null;
  readonly endMs: InstantMs | null;
  readonly passthrough: PassthroughColumns;
};

function passthroughFromBody(body: InlinePriceBody, metadata: MetadataDto): PassthroughColumns {
  return {
    display_name: body.display_name ?? null,
    description: body.description ?? null,
    lookup_key: body.lookup_key ?? null,
    parent_price_id: null,
    group_id: body.group_id === '' ? null : (body.group_id ?? null),
    metadata,
  };
}

/** Reads a price body, or says what is wrong with its dates, metadata and unavailable members. */
export function readPriceBody(body: InlinePriceBody & PriceOwnerBody): PriceCommand | Refusal {
  const reader = new MemberReader();
  if (body.display_name !== undefined) reader.line('display_name', body.display_name);
  const command = {
    body,
    startMs: reader.instant('start_date', body.start_date),
    endMs: reader.instant('end_date', body.end_date),
    passthrough: passthroughFromBody(body, { ...reader.metadata(body.metadata) }),
  };
  return reader.refusal() ?? command;
}

/** A broken price rule as the answer to a request. */
export function refusalOfPrice(refusal: PriceRefusal): Refusal {
  return invalid({ [refusal.member]: refusal.remedy });
}

/** The owner that a command names, or why it names none. */
export function ownerOfCommand({ body }: PriceCommand): RequestedOwner | Refusal {
  const owner = requestedOwnerOf(body);
  return isPriceRefusal(owner) ? refusalOfPrice(owner) : owner;
}

/** The codes of the price units that commands name. */
export function unitCodesOf(commands: readonly PriceCommand[]): readonly string[] {
  const codes = commands.map(({ body }) => body.price_unit_config?.price_unit);
  return codes.filter((code) => code !== undefined);
}

/** The price of a command, for an owner and at an instant. */
function termsOfCommand(
  { body, startMs, endMs }: PriceCommand,
  owner: PriceOwner,
  { now, units }: { readonly now: InstantMs; readonly units: PriceUnitsByCode },
): PriceTerms | Refusal {
  const code = body.price_unit_config?.price_unit;
  const priceUnit = code === undefined ? null : (units.get(code) ?? null);
  const dates = { startMs: startMs ?? now, isStartGiven: startMs !== null, endMs };
  const terms = completePrice(body, { owner, ...dates, priceUnit });
  return isPriceRefusal(terms) ? refusalOfPrice(terms) : terms;
}

/**
 * The price of a command that keeps every rule: its own, that of its meter, and that all prices of
 * a subscription have its currency.
 */
export function checkedTerms(
  command: PriceCommand,
  owner: PriceOwner & { readonly currency: string | null },
  found: {
    readonly now: InstantMs;
    readonly units: PriceUnitsByCode;
    readonly meters: ReadonlyMap<string, MeterRow>;
  },
): PriceTerms | Refusal {
  const { entityType, entityId, currency } = owner;
  const refusal = meterRefusal(command.body.meter_id ?? null, found.meters);
  if (refusal !== null) return refusal;
  const terms = termsOfCommand(command, { entityType, entityId }, found);
  if (isRefusal(terms) || currency === null) return terms;
  return currencyRefusal(terms, { currency }) ?? terms;
}

/** All prices of a subscription have its currency. */
export function currencyRefusal(
  { currency }: Pick<PriceTerms, 'currency'>,
  subscription: { readonly currency: string },
): Refusal | null {
  if (currency === subscription.currency) return null;
  return invalid({ currency: `must be ${subscription.currency}, that of the subscription` });
}

/** Why a price cannot have this meter; null for a published one, and for none. */
export function meterRefusal(
  meterId: string | null,
  meters: ReadonlyMap<string, MeterRow>,
): Refusal | null {
  if (meterId === null) return null;
  const meter = meters.get(meterId);
  if (meter === undefined) return notFound('meter', meterId);
  return meter.status === 'published' ? null : invalid({ meter_id: NOT_PUBLISHED });
}

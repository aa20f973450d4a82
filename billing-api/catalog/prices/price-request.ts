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
import { invalid, notFound, type Refusal } from '../../records/refusal.js';
import type { MeterRow } from '../meters/meter.resource.js';
import {
  passthroughFromBody,
  type InlinePriceBody,
  type PassthroughColumns,
} from './price.resource.js';

/** A price of a request whose dates and metadata are read and whose other members are as sent. */
export type PriceCommand = {
  readonly body: PriceBody & PriceOwnerBody;
  /** Null for now. */
  readonly startMs: InstantMs | null;
  readonly endMs: InstantMs | null;
  readonly passthrough: PassthroughColumns;
};

/** Reads a price body, or says what is wrong with its dates, metadata and unavailable members. */
export function readPriceBody(body: InlinePriceBody & PriceOwnerBody): PriceCommand | Refusal {
  const reader = new MemberReader();
  reader.rejectUnsupported(body, ['group_id']);
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

/** The price of a command. Prices in a price unit are not available yet, so none can be named. */
export function termsOfCommand(
  { body, startMs, endMs }: PriceCommand,
  owner: PriceOwner,
  now: InstantMs,
): PriceTerms | Refusal {
  const terms = completePrice(body, { owner, startMs: startMs ?? now, endMs, priceUnit: null });
  return isPriceRefusal(terms) ? refusalOfPrice(terms) : terms;
}

/** Why a price cannot have this meter; null for a published one, and for none. */
export function meterRefusal(
  meterId: string | null,
  meters: ReadonlyMap<string, MeterRow>,
): Refusal | null {
  if (meterId === null) return null;
  const meter = meters.get(meterId);
  if (meter === undefined) return notFound('meter', meterId);
  return meter.status === 'published' ? null : invalid({ meter_id: 'is not published' });
}

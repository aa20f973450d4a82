import type { InstantMs } from '../../../contract/instant.js';
import type { Currency } from '../../../contract/wire-types.js';
import type { PriceCadence, PriceCadenceBody } from './price-cadence.js';
import type { PriceModelBody, PriceModelTerms } from './price-model.js';
import type { PriceQuantity, PriceQuantityBody } from './price-quantity.js';
import type { PriceUnitBody } from './price-unit.js';

export const PRICE_OWNER_TYPES = ['PLAN', 'ADDON', 'SUBSCRIPTION'] as const;
export type PriceOwnerType = (typeof PRICE_OWNER_TYPES)[number];
export type RecordStatus = 'published' | 'deleted' | 'archived';

/**
 * The members of a price request that decide money, in wire spelling (docs/http.md 3.3): the HTTP
 * edge has refused unknown members, wrong types and unknown enum values. Each group of members is
 * declared, read and checked in a file of its own.
 */
export interface PriceBody
  extends PriceModelBody, PriceUnitBody, PriceCadenceBody, PriceQuantityBody {
  readonly currency: Currency;
}

/** A price without its identity: what `completePrice` makes of a body. */
export type PriceTerms = PriceModelTerms &
  PriceCadence &
  PriceQuantity & {
    /** Lower case. */
    readonly currency: string;
    readonly entityType: PriceOwnerType;
    readonly entityId: string;
    readonly startMs: InstantMs;
    /** Whether the caller gave the start; it is the instant of creation otherwise. */
    readonly isStartGiven: boolean;
    readonly endMs: InstantMs | null;
  };

/** A price as it is stored. */
export type Price = PriceTerms & {
  readonly id: string;
  readonly status: RecordStatus;
};

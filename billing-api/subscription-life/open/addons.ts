import type { InstantMs } from '../../../contract/instant.js';
import { findMatchingPrices, noMatchProblem } from '../../catalog/prices/find-matching-prices.js';
import { ADDONS, type AddonRow } from '../../declarations/catalog/addon.resource.js';
import type { PriceRow } from '../../declarations/catalog/price.resource.js';
import type { EntitlementRow } from '../../declarations/entitlements/entitlement.resource.js';
import {
  ADDON_ASSOCIATIONS,
  type AddonAssociationRow,
} from '../../declarations/subscriptions/addon-association.resource.js';
import { findEntitlementsOf } from '../../entitlements/entitlements-store.js';
import { resetRefusalsOf } from '../../entitlements/reset-rule.js';
import { billedFromMs, periodAt } from '../../domain/periods/ledger-periods.js';
import type { PeriodLedger } from '../../domain/periods/period-ledger.js';
import type { PriceMatch } from '../../domain/price/matching-prices.js';
import { createRecords } from '../../records/create-record.js';
import { holdRecords } from '../../records/find-record.js';
import type { MemberReader } from '../../records/member-rules.js';
import type { DateTime } from '../../records/record-dto.js';
import { accept, collect, invalid, notFound } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { NO_COMMITMENT, type NewLine } from '../../subscriptions/lines/new-line.js';
import { handOverOf, pricesFrom } from '../../subscriptions/lines/succeeded-prices.js';

/** An addon that the subscription has; one that is named twice counts twice. */
export interface AddonOfSubscriptionBody {
  addon_id: string;
  /** `onetime` lasts until the end of the period in which it begins. @default "recurring" */
  cadence?: 'onetime' | 'recurring';
  /** The start of the subscription when absent. */
  start_date?: DateTime;
}

/** An addon of a request. */
export type RequestedAddon = {
  /** Where it stands in the request. */
  readonly place: string;
  readonly addonId: string;
  readonly startMs: InstantMs;
  /** Null while it has no end; a onetime one of a new subscription gets it with the periods. */
  readonly endMs: InstantMs | null;
  readonly cadence: 'onetime' | 'recurring';
};

/** Reads `addons`, which lie within the subscription. */
export function readAddons(
  reader: MemberReader,
  bodies: readonly AddonOfSubscriptionBody[] = [],
  life: {
    readonly startMs: InstantMs;
    readonly endMs: InstantMs | null;
    readonly isDraft: boolean;
  },
): readonly RequestedAddon[] {
  return bodies.map((body, index) => {
    const place = `addons.${index}`;
    const { cadence = 'recurring' } = body;
    if (cadence === 'onetime' && life.isDraft) {
      reader.note(`${place}.cadence`, 'must be recurring while the subscription is a draft');
    }
    const startMs = reader.instant(`${place}.start_date`, body.start_date) ?? life.startMs;
    if (startMs < life.startMs) {
      reader.note(`${place}.start_date`, 'must not be before the start of the subscription');
    }
    if (life.endMs !== null && startMs >= life.endMs) {
      reader.note(`${place}.start_date`, 'must lie before the end of the subscription');
    }
    return { place, addonId: body.addon_id, startMs, endMs: null, cadence };
  });
}

/** An addon of a request, held until the unit ends, with the prices that match. */
export type HeldAddon = {
  readonly requested: RequestedAddon;
  readonly addon: AddonRow;
  readonly associationId: string;
  readonly prices: readonly PriceRow[];
};

type AddonsRequest = PriceMatch & { readonly addons: readonly RequestedAddon[] };

/** The addons of a request, which must be published and have prices for the subscription. */
export async function holdAddons(
  unit: Unit,
  request: AddonsRequest,
): Promise<readonly HeldAddon[]> {
  const ids = idsOfAddons(request);
  const rows = await holdRecords(unit, ADDONS, ids);
  const matching = await findMatchingPrices(unit, request, ids);
  return heldAddons(unit, request, { rows, matching });
}

export function idsOfAddons({ addons }: AddonsRequest): readonly string[] {
  return addons.map(({ addonId }) => addonId);
}

/** As `holdAddons`, with records that are held, and prices that match, those of others too. */
export async function heldAddons(
  unit: Unit,
  request: AddonsRequest,
  {
    rows: addons,
    matching,
  }: { readonly rows: ReadonlyMap<string, AddonRow>; readonly matching: readonly PriceRow[] },
): Promise<readonly HeldAddon[]> {
  const ids = idsOfAddons(request);
  const unmatched = ids.find((id) => !matching.some((price) => price.entity_id === id));
  const problem =
    unmatched === undefined
      ? ''
      : await noMatchProblem(unit, request, { noun: 'addon', id: unmatched });
  return accept(
    collect({ items: request.addons, isBulk: false }, (requested) => {
      const addon = addons.get(requested.addonId);
      if (addon?.status !== 'published') return notFound('addon', requested.addonId);
      const rows = matching.filter((price) => price.entity_id === addon.id);
      const prices = pricesFrom(rows, requested.startMs);
      if (prices.length === 0) {
        return invalid({ [`${requested.place}.addon_id`]: problem });
      }
      return { requested, addon, associationId: unit.newId(ADDON_ASSOCIATIONS.idPrefix), prices };
    }),
  );
}

function earlierOf(one: InstantMs | null, other: InstantMs | null): InstantMs | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}

/** Onetime addons with their end: that of the first billed period in which they exist. */
export function endOnetimeAddons(
  addons: readonly HeldAddon[],
  ledger: PeriodLedger,
): readonly HeldAddon[] {
  return addons.map((held) => {
    const { requested } = held;
    if (requested.cadence !== 'onetime') return held;
    const period = periodAt(ledger, Math.max(requested.startMs, billedFromMs(ledger)));
    return { ...held, requested: { ...requested, endMs: period?.endMs ?? requested.startMs } };
  });
}

/** Lines that end no later than the addons that bring them. */
export function endWithAddons(
  lines: readonly NewLine[],
  addons: readonly HeldAddon[],
): readonly NewLine[] {
  const ends = new Map(
    addons.map(({ associationId, requested }) => [associationId, requested.endMs]),
  );
  return lines.map((line) => {
    const endMs = line.addon === null ? null : (ends.get(line.addon.associationId) ?? null);
    return endMs === null ? line : { ...line, endMs: earlierOf(line.endMs, endMs) };
  });
}

function newAddonLine(price: PriceRow, held: HeldAddon): NewLine {
  const { addon, associationId, prices } = held;
  return {
    entityType: 'addon',
    addon: { id: addon.id, name: addon.name, associationId, startMs: held.requested.startMs },
    priceId: price.id,
    price: { kind: 'stored', row: price },
    endMs: earlierOf(handOverOf(price, prices), held.requested.endMs),
    quantity: null,
    displayName: null,
    metadata: {},
    commitment: NO_COMMITMENT,
    timeBuckets: [],
  };
}

/** The lines of the addons of a request: one for every price that matches. */
export function newAddonLines(addons: readonly HeldAddon[]): readonly NewLine[] {
  return addons.flatMap((held) => held.prices.map((price) => newAddonLine(price, held)));
}

/**
 * Entitlements of one subscription that share a meter have one reset period (docs/domain.md 10.2).
 * It is asked once the addons are stored, of the entitlements of all of them.
 * Plan and addons are held, so none of them gets another entitlement meanwhile.
 */
export async function refuseMeeting(
  unit: Unit,
  addons: readonly HeldAddon[],
  known: readonly EntitlementRow[],
): Promise<void> {
  const ids = new Set(addons.map(({ addon }) => addon.id));
  const entitlements = known.filter((row) => ids.has(row.entity_id));
  const refusals = await resetRefusalsOf(unit, entitlements);
  accept(
    collect({ items: addons, isBulk: false }, ({ addon, requested }) => {
      const own = entitlements.filter((row) => row.entity_id === addon.id);
      const refusal = own.map(({ id }) => refusals.get(id)).find((one) => one !== undefined);
      if (refusal === undefined) return addon;
      const problem = `has an entitlement whose ${refusal.message}`;
      return invalid({ [`${requested.place}.addon_id`]: problem });
    }),
  );
}

/** Stores which addons the subscription has. */
export function insertAddons(
  unit: Unit,
  subscriptionId: string,
  addons: readonly HeldAddon[],
): Promise<readonly AddonAssociationRow[]> {
  const items = addons.map(({ addon, associationId, requested: { startMs, endMs, cadence } }) => ({
    id: associationId,
    subscription_id: subscriptionId,
    addon_id: addon.id,
    cadence,
    addon_status: startMs <= unit.now ? ('active' as const) : ('pending' as const),
    start_date: startMs,
    end_date: endMs,
  }));
  return createRecords(unit, ADDON_ASSOCIATIONS, { items, isBulk: false });
}

/** As `insertAddons`, of addons whose entitlements must go with those that the subscription has. */
export async function storeAddons(
  unit: Unit,
  subscriptionId: string,
  addons: readonly HeldAddon[],
): Promise<void> {
  await insertAddons(unit, subscriptionId, addons);
  const ids = addons.map(({ addon }) => addon.id);
  await refuseMeeting(unit, addons, await findEntitlementsOf(unit.tx, ids));
}

import { ADDONS, type AddonRow } from '../../declarations/catalog/addon.resource.js';
import type { PriceRow } from '../../declarations/catalog/price.resource.js';
import { holdRecords } from '../../records/find-record.js';
import { collect, invalid, notFound, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { ADDON_ASSOCIATIONS } from '../../declarations/subscriptions/addon-association.resource.js';
import { pricesFrom } from '../../subscriptions/lines/succeeded-prices.js';
import { findMatchingPrices, termsText } from './matching-prices-of.js';
import type { RequestedAddon } from './requested-addons.js';
import type { SubscriptionCommand } from './subscription-command.js';

/** An addon of a request, held until the unit ends, with the prices that match. */
export type HeldAddon = {
  readonly requested: RequestedAddon;
  readonly addon: AddonRow;
  readonly associationId: string;
  readonly prices: readonly PriceRow[];
};

/** The addons of a request, which must be published and have prices for the subscription. */
export async function holdAddons(
  unit: Unit,
  command: SubscriptionCommand,
): Promise<readonly HeldAddon[] | Refusal> {
  const ids = command.addons.map(({ addonId }) => addonId);
  const addons = await holdRecords(unit, ADDONS, ids);
  const matching = await findMatchingPrices(unit, command, ids);
  return collect({ items: command.addons, isBulk: false }, (requested) => {
    const addon = addons.get(requested.addonId);
    if (addon?.status !== 'published') return notFound('addon', requested.addonId);
    const rows = matching.filter((price) => price.entity_id === addon.id);
    const prices = pricesFrom(rows, requested.startMs);
    if (prices.length === 0) {
      const problem = `the addon has no live price for ${termsText(command)}`;
      return invalid({ [`${requested.place}.addon_id`]: problem });
    }
    return { requested, addon, associationId: unit.newId(ADDON_ASSOCIATIONS.idPrefix), prices };
  });
}

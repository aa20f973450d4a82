import type { PriceRow } from '../../declarations/catalog/price.resource.js';
import { NO_COMMITMENT, type NewLine } from '../../subscriptions/lines/new-line.js';
import { handOverOf } from '../../subscriptions/lines/succeeded-prices.js';
import type { HeldAddon } from './held-addons.js';

function newAddonLine(price: PriceRow, held: HeldAddon): NewLine {
  const { addon, associationId, prices } = held;
  return {
    entityType: 'addon',
    addon: { id: addon.id, name: addon.name, associationId, startMs: held.requested.startMs },
    priceId: price.id,
    price: { kind: 'stored', row: price },
    endMs: handOverOf(price, prices),
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

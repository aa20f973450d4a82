import type { Occasion } from '../../records/occasion.js';
import { changeRecord } from '../../records/change-record.js';
import { givenOf, MemberReader } from '../../records/member-rules.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { writeUnit, type WriteDependencies } from '../../records/unit.js';
import { expandPrice, type ExpandedPrice } from './expand-prices.js';
import type { ChangePriceBody } from '../../declarations/catalog/price-bodies.js';
import { PRICES } from '../../declarations/catalog/price.resource.js';
import { replacePrice, type Replacement } from './replace-price.js';

/** What a request changes; without a successor the price itself is changed. */
type PriceChange = Omit<Replacement, 'change'> & { readonly change: Replacement['change'] | null };

function readChange(body: ChangePriceBody): PriceChange | Refusal {
  const reader = new MemberReader();
  const { lookup_key, display_name, description, group_id, metadata, ...others } = body;
  const { effective_from: from, ...change } = others;
  if (typeof display_name === 'string') reader.line('display_name', display_name);
  const isCritical = Object.values(change).some((value) => value !== undefined);
  const fromMs = reader.instant('effective_from', from);
  if (from !== undefined && !isCritical) {
    const problem = 'goes with a change of amount, billing_model, tier_mode, tiers,';
    reader.note(
      'effective_from',
      `${problem} transform_quantity, max_amount or price_unit_config only`,
    );
  }
  const members = givenOf({
    lookup_key,
    display_name,
    description,
    group_id: group_id === '' ? null : group_id,
    metadata: reader.changedMetadata(metadata),
  });
  return reader.refusal() ?? { change: isCritical ? change : null, fromMs, members };
}

/**
 * PUT /prices/{id}: what a price says of itself is changed in place; a change of what it charges
 * ends it and makes a successor, which is answered (docs/domain.md 9.6).
 */
export async function changePrice(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { id, body }: { readonly id: string; readonly body: ChangePriceBody },
): Promise<ExpandedPrice | Refusal> {
  const read = readChange(body);
  if (isRefusal(read)) return read;
  const { change, members, fromMs } = read;
  return writeUnit(dependencies, occasion, async (unit) => {
    const row =
      change === null
        ? await changeRecord(unit, PRICES, { target: { id }, change: () => members })
        : await replacePrice(unit, id, { change, members, fromMs });
    return expandPrice(unit, row);
  });
}

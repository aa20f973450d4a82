import { groupBy } from '../../../runtime/group-by.js';
import type { AddonAssociationRow } from '../../declarations/subscriptions/addon-association.resource.js';
import type { LineItemDto } from '../../declarations/subscriptions/line-item.resource.js';
import type { ReadUnit } from '../../records/unit.js';
import { findLineItems } from '../../subscriptions/subscriptions-store.js';
import { answeredLines } from '../lines/search-lines.js';

/** An addon of a subscription with the lines that it brings. */
export type AnsweredAddon = {
  readonly association: AddonAssociationRow;
  readonly lines: readonly LineItemDto[];
};

/** Addons of subscriptions with their lines, in their order. */
export async function answeredAddon(
  unit: ReadUnit,
  rows: readonly AddonAssociationRow[],
): Promise<readonly AnsweredAddon[]> {
  const ids = rows.map(({ id }) => id);
  const all = await findLineItems(
    unit.tx,
    rows.map(({ subscription_id: id }) => id),
  );
  const own = all.filter(({ addon_association_id: id }) => id !== null && ids.includes(id));
  const toDto = await answeredLines(unit, own);
  const byAddon = groupBy(own, (row) => row.addon_association_id);
  return rows.map((association) => ({
    association,
    // Absent means none: the addon has brought no line.
    lines: (byAddon.get(association.id) ?? []).map(toDto),
  }));
}

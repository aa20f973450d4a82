import type { Interval } from '../../../../contract/instant.js';
import { lifeOf } from '../../periods/ledger-periods.js';
import { sumOfMoney, zeroMoney, type Money } from '../../money/money.js';
import type { BillableLine } from '../billable-line.js';
import type { LineSelectionInputs } from '../invoice.js';
import type { LineItem } from '../line-item.js';

/** What lines of this invoice used of their commitments, by line item id. */
export type UsedOnInvoice<C extends string = string> = ReadonlyMap<string, Money<C>>;

export type Lineage = {
  /** The line item and those that it continues. */
  readonly ids: ReadonlySet<string>;
  /** Whether a later line of the lineage has a commitment in a window (docs/domain.md 11.3). */
  readonly hasSuccessorIn: (window: Interval) => boolean;
};

/** Who continues whom among the line items of a subscription (docs/domain.md 27). */
export type Lineages = {
  readonly of: (lineItem: LineItem) => Lineage;
  /** Lines in an order in which each comes after the one that it continues. */
  readonly predecessorsFirst: (lines: readonly BillableLine[]) => readonly BillableLine[];
};

/** Whether a line item has a commitment that it shares with its lineage, and exists at all. */
function isCommitted({ commitment, startMs, endMs }: LineItem): boolean {
  if (commitment === null || commitment.isWindowed || commitment.terms === null) return false;
  return endMs === null || endMs > startMs;
}

export function lineagesOf({ lineItems, subscription }: LineSelectionInputs): Lineages {
  const items = new Map(lineItems.map((item) => [item.id, item]));
  const idsOf = ({ id, predecessorId }: LineItem): ReadonlySet<string> => {
    const ids = new Set([id]);
    let earlier = predecessorId;
    while (earlier !== null && !ids.has(earlier)) {
      ids.add(earlier);
      earlier = items.get(earlier)?.predecessorId ?? null;
    }
    return ids;
  };
  const successors = lineItems
    .filter((item) => item.predecessorId !== null && isCommitted(item))
    .map((item) => ({ item, ids: idsOf(item) }));
  const lifeEndMs = lifeOf(subscription).endMs;
  return {
    of: (lineItem) => ({
      ids: idsOf(lineItem),
      hasSuccessorIn: (window) =>
        successors.some(
          ({ item, ids }) =>
            item.id !== lineItem.id &&
            item.startMs < Math.min(window.endMs, lifeEndMs) &&
            ids.has(lineItem.id),
        ),
    }),
    predecessorsFirst: (lines) => {
      const found = lines.map((line) => ({ line, depth: idsOf(line.lineItem).size }));
      return found.sort((left, right) => left.depth - right.depth).map(({ line }) => line);
    },
  };
}

/** What lines of a lineage used on this invoice. */
export function usedOf<C extends string>(
  used: UsedOnInvoice<C>,
  ids: ReadonlySet<string>,
  currency: C,
): Money<C> {
  // Absent means zero: a line that is not on this invoice used nothing on it.
  const amounts = [...ids].map((id) => used.get(id) ?? zeroMoney(currency));
  return sumOfMoney(amounts, currency);
}

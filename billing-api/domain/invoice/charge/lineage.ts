import { ZERO, type Decimal } from '../../../../contract/decimal.js';
import type { Interval } from '../../../../contract/instant.js';
import { lifeOf } from '../../ledger/ledger-periods.js';
import type { BillableLine } from '../billable-line.js';
import type { LineSelectionInputs } from '../invoice.js';
import type { LineItem } from '../line-item.js';

/** What lines of this invoice used of their commitments, by line item id. */
export type UsedOnInvoice = ReadonlyMap<string, Decimal>;

export type Lineage = {
  /** The line item and those that it continues. */
  readonly ids: ReadonlySet<string>;
  /** Whether a later line of the lineage has a commitment in a window (docs/domain.md 11.3). */
  readonly hasSuccessorIn: (window: Interval) => boolean;
};

type Inputs = Pick<LineSelectionInputs, 'lineItems' | 'subscription'>;

/** The ids of a line item and of all those that it continues (docs/domain.md 27). */
function ancestorsOf(
  { id, predecessorId }: LineItem,
  items: ReadonlyMap<string, LineItem>,
): ReadonlySet<string> {
  const ids = new Set([id]);
  let earlier = predecessorId;
  while (earlier !== null && !ids.has(earlier)) {
    ids.add(earlier);
    earlier = items.get(earlier)?.predecessorId ?? null;
  }
  return ids;
}

function byId({ lineItems }: Inputs): ReadonlyMap<string, LineItem> {
  return new Map(lineItems.map((item) => [item.id, item]));
}

/** Whether a line item has a commitment that it shares with its lineage, and exists at all. */
function isCommitted({ commitment, startMs, endMs }: LineItem): boolean {
  if (commitment === null || commitment.isWindowed || commitment.terms === null) return false;
  return endMs === null || endMs > startMs;
}

/** The line items before and after one in its lineage. */
export function lineageOf(lineItem: LineItem, inputs: Inputs): Lineage {
  const items = byId(inputs);
  return {
    ids: ancestorsOf(lineItem, items),
    hasSuccessorIn: (window) => {
      const endMs = Math.min(window.endMs, lifeOf(inputs.subscription).endMs);
      return inputs.lineItems.some(
        (item) =>
          item.id !== lineItem.id &&
          item.startMs < endMs &&
          isCommitted(item) &&
          ancestorsOf(item, items).has(lineItem.id),
      );
    },
  };
}

/** Lines in an order in which each comes after the one that it continues. */
export function predecessorsFirst(
  lines: readonly BillableLine[],
  inputs: Inputs,
): readonly BillableLine[] {
  const items = byId(inputs);
  return lines.toSorted(
    (left, right) =>
      ancestorsOf(left.lineItem, items).size - ancestorsOf(right.lineItem, items).size,
  );
}

/** What lines of a lineage used on this invoice. */
export function usedOf(used: UsedOnInvoice, ids: ReadonlySet<string>): Decimal {
  return [...ids].reduce((sum, id) => sum.plus(used.get(id) ?? ZERO), ZERO);
}

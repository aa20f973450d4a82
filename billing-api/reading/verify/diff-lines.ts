import { plain, type Decimal } from '../../../contract/number/decimal.js';
import { assertPresent } from '../../../runtime/failure.js';
import { groupBy } from '../../../runtime/group-by.js';
import type { InvoiceInputs } from '../../domain/invoice/invoice.js';
import type { LineItem } from '../../domain/invoice/line-item.js';
import { encodeValue } from '../../domain/invoice/snapshot/encode-value.js';
import type { DocumentLine } from '../../documents/invoice-document.js';

/** Why a line is another one than before. */
export type DiffCause =
  'usage' | 'price' | 'meter' | 'entitlement' | 'commitment' | 'coupon' | 'tax' | 'period';

/** One line of an invoice, before and after. */
export type LineDiff = {
  readonly change: 'same' | 'changed' | 'added' | 'removed';
  readonly displayName: string;
  readonly from: DocumentLine | null;
  readonly to: DocumentLine | null;
  readonly causes: readonly DiffCause[];
};

/** Lines and what they were computed from; null for amounts that were given. */
export type DiffSide = {
  readonly lines: readonly DocumentLine[];
  readonly inputs: InvoiceInputs | null;
};

/** A text that two values share exactly when they are the same. */
const textOf = (value: unknown): string => JSON.stringify(encodeValue(value));

const isSame = (left: unknown, right: unknown): boolean => textOf(left) === textOf(right);

/** The line items that a computation knew: those of the invoice and of grouped children. */
function itemsOf({ inputs }: DiffSide): readonly Known[] {
  if (inputs === null) return [];
  const groups = [inputs, ...(inputs.children ?? NO_CHILDREN).map((child) => child.inputs)];
  return groups.flatMap((own) => own.lineItems.map((item) => ({ item, inputs: own })));
}

const NO_CHILDREN: NonNullable<InvoiceInputs['children']> = [];

type Known = { readonly item: LineItem; readonly inputs: InvoiceInputs };

/** The first of the items that one continues, among those of both sides (docs/domain.md 27). */
function createRoots(sides: readonly DiffSide[]): (id: string) => string {
  const items = sides.flatMap(itemsOf).map(({ item }) => item);
  const predecessors = new Map(items.map(({ id, predecessorId }) => [id, predecessorId]));
  return (id) => {
    let root = id;
    for (let next = predecessors.get(id); next !== undefined && next !== null;) {
      root = next;
      next = predecessors.get(next);
    }
    return root;
  };
}

/** The same lines before and after: of one item, or those that continue it, in their order. */
function byIdentity(
  lines: readonly DocumentLine[],
  rootOf: (id: string) => string,
): ReadonlyMap<string, DocumentLine> {
  const groups = groupBy(lines, ({ subscription_line_item_id: item, kind, display_name: name }) =>
    item === null ? `${kind} ${name}` : `${kind} of ${rootOf(item)}`,
  );
  return new Map(
    [...groups].flatMap(([key, group]) =>
      group.map((line, place) => [`${key} ${place}`, line] as const),
    ),
  );
}

/** A price without what decides no amount: whose it is, and how long it is sold. */
function termsOf({ price, quantity }: LineItem) {
  const sold = { status: null, startMs: 0, endMs: null, isStartGiven: false };
  return { ...price, id: null, entityId: null, entityType: null, ...sold, quantity };
}

/** The line item of a line, or the last one that continues it; null where none was known. */
function findItem(
  side: DiffSide,
  line: DocumentLine | null,
  rootOf: (id: string) => string,
): Known | null {
  const id = line?.subscription_line_item_id ?? null;
  if (id === null) return null;
  const items = itemsOf(side);
  const own = items.find(({ item }) => item.id === id);
  return own ?? items.findLast(({ item }) => rootOf(item.id) === rootOf(id)) ?? null;
}

/** What a computation knew of a line item, by the causes that a change of it is. */
function knownOf({ item, inputs }: Known) {
  const { meter, commitment } = item;
  const features = inputs.entitlements.filter((source) => source.meterId === meter?.id);
  const earlier = inputs.earlierSegments?.filter(({ lineItemId }) => lineItemId === item.id);
  return {
    price: termsOf(item),
    // The name of a meter decides no amount.
    meter: meter === null ? null : { ...meter, displayName: '', version: 0 },
    commitment: [commitment, inputs.subscription.commitment, inputs.priorCommitments],
    entitlement: meter === null ? [] : features,
    usage: inputs.usage.get(item.id) ?? null,
    // A line charges less by what threshold invoices of its period charged before it.
    period: earlier ?? null,
  };
}

function discountOf({
  line_item_discount: own,
  invoice_level_discount: all,
}: DocumentLine): Decimal {
  return own.plus(all);
}

const KNOWN = ['usage', 'price', 'meter', 'entitlement', 'commitment', 'period'] as const;

type Sides = {
  readonly from: DiffSide;
  readonly to: DiffSide;
  /** Whether other coupons apply than before, or other terms of them. */
  readonly hasOtherCoupons: boolean;
  readonly rootOf: (id: string) => string;
};

/** Which of the inputs of a line are other ones, in what both computations were made from. */
function otherInputs(
  { from: before, to: after, rootOf }: Sides,
  [from, to]: readonly [DocumentLine | null, DocumentLine | null],
): readonly DiffCause[] {
  const found = [findItem(before, from ?? to, rootOf), findItem(after, to ?? from, rootOf)];
  const [left, right] = found.map((one) => (one === null ? null : knownOf(one)));
  if (left === null || left === undefined || right === null || right === undefined) return [];
  return KNOWN.filter((cause) => !isSame(left[cause], right[cause]));
}

/** Causes that the two lines themselves show. */
function shownCauses(
  { hasOtherCoupons }: Sides,
  [from, to]: readonly [DocumentLine, DocumentLine],
): readonly DiffCause[] {
  const isMoved = from.period_start !== to.period_start || from.period_end !== to.period_end;
  const isDiscounted = !discountOf(from).equals(discountOf(to));
  // A discount that follows an amount is no cause, nor one whose share falls to other lines.
  const byCoupon = isDiscounted && (hasOtherCoupons || from.amount.equals(to.amount));
  return [...(isMoved ? ['period' as const] : []), ...(byCoupon ? ['coupon' as const] : [])];
}

/** Why a line differs. */
function causesOf(
  sides: Sides,
  lines: readonly [DocumentLine | null, DocumentLine | null],
): readonly DiffCause[] {
  const [from, to] = lines;
  const others = otherInputs(sides, lines);
  if (from !== null && to !== null) {
    return [...new Set([...others, ...shownCauses(sides, [from, to])])];
  }
  // A line that only one of them has was left out, or taken in, by its period.
  return others.includes('price') ? others : [...new Set([...others, 'period' as const])];
}

const FIGURES = ['quantity', 'amount', 'line_item_discount', 'invoice_level_discount'] as const;

function isChanged(from: DocumentLine, to: DocumentLine): boolean {
  const hasOther = FIGURES.some((name) => plain(from[name]) !== plain(to[name]));
  return hasOther || from.period_start !== to.period_start || from.period_end !== to.period_end;
}

function diffOf(sides: Sides, from: DocumentLine | null, to: DocumentLine | null): LineDiff {
  const displayName = assertPresent(to ?? from, 'a line').display_name;
  if (from !== null && to !== null && !isChanged(from, to)) {
    return { change: 'same', displayName, from, to, causes: [] };
  }
  const change = from === null ? 'added' : to === null ? 'removed' : 'changed';
  return { change, displayName, from, to, causes: causesOf(sides, [from, to]) };
}

/** Every line of two computations, with what became of it and why. Reads nothing. */
export function diffLines({
  from,
  to,
  hasOtherCoupons,
}: Omit<Sides, 'rootOf'>): readonly LineDiff[] {
  const rootOf = createRoots([from, to]);
  const sides = { from, to, hasOtherCoupons, rootOf };
  const before = byIdentity(from.lines, rootOf);
  const after = byIdentity(to.lines, rootOf);
  const names = [...new Set([...before.keys(), ...after.keys()])];
  return names.map((name) => diffOf(sides, before.get(name) ?? null, after.get(name) ?? null));
}

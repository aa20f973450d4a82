import { plain, type Decimal } from '../../../contract/decimal.js';
import { assertPresent } from '../../../runtime/failure.js';
import { groupBy } from '../../../runtime/group-by.js';
import type { InvoiceInputs } from '../../domain/invoice/invoice.js';
import { encodeValue } from '../../domain/invoice/snapshot/encode-value.js';
import type { DocumentLine } from '../document/invoice-document.js';

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

/** The same lines before and after: of one item and kind, in their order. */
function byIdentity(lines: readonly DocumentLine[]): ReadonlyMap<string, DocumentLine> {
  const groups = groupBy(lines, ({ subscription_line_item_id: item, kind, display_name: name }) =>
    item === null ? `${kind} ${name}` : `${kind} of ${item}`,
  );
  return new Map(
    [...groups].flatMap(([key, group]) =>
      group.map((line, place) => [`${key} ${place}`, line] as const),
    ),
  );
}

/** What a computation knew of the line item of a line. */
function knownOf({ inputs }: DiffSide, line: DocumentLine | null) {
  const id = line?.subscription_line_item_id ?? null;
  if (inputs === null || id === null) return null;
  const item = inputs.lineItems.find((one) => one.id === id);
  if (item === undefined) return null;
  const { price, meter, commitment, quantity } = item;
  const features = inputs.entitlements.filter((source) =>
    textOf(source).includes(`"${meter?.id}"`),
  );
  return {
    price: { price, quantity },
    // The name of a meter decides no amount.
    meter: meter === null ? null : { ...meter, displayName: '', version: 0 },
    commitment: [commitment, inputs.subscription.commitment, inputs.priorCommitments],
    entitlement: meter === null ? [] : features,
    usage: inputs.usage.get(id) ?? null,
  };
}

function discountOf({
  line_item_discount: own,
  invoice_level_discount: all,
}: DocumentLine): Decimal {
  return own.plus(all);
}

const KNOWN = ['usage', 'price', 'meter', 'entitlement', 'commitment'] as const;

/** Which of the inputs of a line are other ones, in what both computations were made from. */
function otherInputs(
  sides: readonly [DiffSide, DiffSide],
  [from, to]: readonly [DocumentLine | null, DocumentLine | null],
): readonly DiffCause[] {
  const [before, after] = [knownOf(sides[0], from ?? to), knownOf(sides[1], to ?? from)];
  if (before === null || after === null) return [];
  return KNOWN.filter((cause) => !isSame(before[cause], after[cause]));
}

/** Causes that the two lines themselves show. */
function shownCauses(from: DocumentLine, to: DocumentLine): readonly DiffCause[] {
  const isMoved = from.period_start !== to.period_start || from.period_end !== to.period_end;
  const isDiscounted = from.amount.equals(to.amount) && !discountOf(from).equals(discountOf(to));
  return [...(isMoved ? ['period' as const] : []), ...(isDiscounted ? ['coupon' as const] : [])];
}

/** Why a line differs. */
function causesOf(
  sides: readonly [DiffSide, DiffSide],
  lines: readonly [DocumentLine | null, DocumentLine | null],
): readonly DiffCause[] {
  const [from, to] = lines;
  const others = otherInputs(sides, lines);
  if (from !== null && to !== null) return [...others, ...shownCauses(from, to)];
  // A line that only one of them has was left out, or taken in, by its period.
  return others.includes('price') ? others : [...others, 'period'];
}

const FIGURES = ['quantity', 'amount', 'line_item_discount', 'invoice_level_discount'] as const;

function isChanged(from: DocumentLine, to: DocumentLine): boolean {
  const hasOther = FIGURES.some((name) => plain(from[name]) !== plain(to[name]));
  return hasOther || from.period_start !== to.period_start || from.period_end !== to.period_end;
}

function diffOf(
  sides: readonly [DiffSide, DiffSide],
  from: DocumentLine | null,
  to: DocumentLine | null,
): LineDiff {
  const displayName = assertPresent(to ?? from, 'a line').display_name;
  if (from !== null && to !== null && !isChanged(from, to)) {
    return { change: 'same', displayName, from, to, causes: [] };
  }
  const change = from === null ? 'added' : to === null ? 'removed' : 'changed';
  return { change, displayName, from, to, causes: causesOf(sides, [from, to]) };
}

/** Every line of two computations, with what became of it and why. Reads nothing. */
export function diffLines(from: DiffSide, to: DiffSide): readonly LineDiff[] {
  const before = byIdentity(from.lines);
  const after = byIdentity(to.lines);
  const names = [...new Set([...before.keys(), ...after.keys()])];
  return names.map((name) => diffOf([from, to], before.get(name) ?? null, after.get(name) ?? null));
}

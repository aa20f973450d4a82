import type { Decimal } from '../../../contract/decimal.js';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import {
  LINE_ITEMS,
  type LineItemDto,
  type LineItemRow,
} from '../../declarations/subscriptions/line-item.resource.js';
import { targetRefusal, updateRecord, type ChangeTarget } from '../../records/change-record.js';
import { givenOf, MemberReader } from '../../records/member-rules.js';
import type { Occasion } from '../../records/occasion.js';
import type { MetadataDto } from '../../records/record-dto.js';
import { invalid, isRefusal, Refusal } from '../../records/refusal.js';
import { writeUnit, type Unit, type WriteDependencies } from '../../records/unit.js';
import { changeQuantity } from './change-quantity.js';
import { holdLine, type HeldLine } from './held-line.js';
import { answeredLine } from './search-lines.js';
import type { ChangeLineItemBody, EndLineItemBody } from './line-items-dto.js';

type Requested = {
  readonly quantity: Decimal | null;
  readonly atMs: InstantMs;
  readonly patch: { readonly display_name?: string; readonly metadata?: MetadataDto };
};

function requestOf(unit: Unit, body: ChangeLineItemBody): Requested | Refusal {
  const reader = new MemberReader();
  const quantity = reader.decimal('quantity', body.quantity);
  const atMs = reader.instant('effective_from', body.effective_from) ?? unit.now;
  if (body.quantity === undefined && body.effective_from !== undefined) {
    reader.note('effective_from', 'goes with quantity; other members change at once');
  }
  const display_name =
    body.display_name === undefined ? undefined : reader.name('display_name', body.display_name);
  const metadata = body.metadata === undefined ? undefined : { ...reader.metadata(body.metadata) };
  return reader.refusal() ?? { quantity, atMs, patch: givenOf({ display_name, metadata }) };
}

async function change(
  unit: Unit,
  target: ChangeTarget,
  body: ChangeLineItemBody,
): Promise<LineItemRow | Refusal> {
  const request = requestOf(unit, body);
  if (isRefusal(request)) return request;
  const held = await holdLine(unit, target.id);
  if (isRefusal(held)) return held;
  const moved = targetRefusal(LINE_ITEMS, held.row, target);
  if (moved !== null) return moved;
  const { quantity, atMs, patch } = request;
  const members = { at: 'effective_from', quantity: 'quantity' };
  const changed =
    quantity === null ? null : await changeQuantity(unit, held, { quantity, atMs, members });
  if (isRefusal(changed)) return changed;
  const row = changed === null ? held.row : changed.after;
  return Object.keys(patch).length === 0 ? row : updateRecord(unit, LINE_ITEMS, { row, patch });
}

/**
 * PUT /subscriptions/lineitems/{id}: another quantity ends the line item and begins a successor,
 * which is answered; the name and the metadata change in place (docs/domain.md 27).
 */
export function changeLine(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { target, body }: { readonly target: ChangeTarget; readonly body: ChangeLineItemBody },
): Promise<LineItemDto | Refusal> {
  return writeUnit(dependencies, occasion, async (unit) =>
    answeredLine(unit, await change(unit, target, body)),
  );
}

function endRefusal({ row, loaded }: HeldLine, atMs: InstantMs): Refusal | null {
  if (row.end_date !== null && row.end_date <= atMs) {
    const problem = `the line item ends at ${formatInstant(row.end_date)} already`;
    return new Refusal('invalid_operation', problem);
  }
  const earliest = Math.max(row.start_date, loaded.subscription.current_period_start);
  if (atMs >= earliest) return null;
  return invalid({ effective_from: `must not be before ${formatInstant(earliest)}` });
}

async function end(
  unit: Unit,
  target: ChangeTarget,
  body: EndLineItemBody,
): Promise<LineItemRow | Refusal> {
  const reader = new MemberReader();
  const atMs = reader.instant('effective_from', body.effective_from) ?? unit.now;
  const problems = reader.refusal();
  if (problems !== null) return problems;
  const held = await holdLine(unit, target.id);
  if (isRefusal(held)) return held;
  const { row } = held;
  const refusal = targetRefusal(LINE_ITEMS, row, target) ?? endRefusal(held, atMs);
  return refusal ?? updateRecord(unit, LINE_ITEMS, { row, patch: { end_date: atMs } });
}

/** DELETE /subscriptions/lineitems/{id}: the line item ends at an instant. */
export function endLine(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { target, body }: { readonly target: ChangeTarget; readonly body: EndLineItemBody },
): Promise<LineItemDto | Refusal> {
  return writeUnit(dependencies, occasion, async (unit) =>
    answeredLine(unit, await end(unit, target, body)),
  );
}

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
import {
  accept,
  invalid,
  Refusal,
  Refused,
  reworded,
  unnestedRefusal,
} from '../../records/refusal.js';
import { overridesModel } from '../../domain/price/price-model.js';
import {
  givesCommitment,
  readLineCommitment,
  type RequestedCommitment,
} from '../../subscriptions/lines/commitment-request.js';
import { writeUnit, type Unit, type WriteDependencies } from '../../records/unit.js';
import { holdLine, type HeldLine } from './held-line.js';
import { creditEndedLine, replaceLine, type LineChange } from './replace-line.js';
import { answeredLine } from './search-lines.js';
import type { ChangeLineItemBody, EndLineItemBody } from './line-items-dto.js';

type Requested = {
  /** Null where the line item goes on, and only what is said of it changes. */
  readonly change: LineChange | null;
  readonly patch: { readonly display_name?: string; readonly metadata?: MetadataDto };
};

/** Where a commitment stands in a request that has only this one. */
const PLACE = 'line';

/** The commitment that a request gives in place of that of the line; null when it gives none. */
function commitmentOf(
  reader: MemberReader,
  id: string,
  body: ChangeLineItemBody,
): RequestedCommitment | null {
  if (!givesCommitment(body)) return null;
  const { commitment_amount: amount, commitment_quantity: quantity } = body;
  const isCommitted = amount !== undefined || quantity !== undefined;
  if (isCommitted && body.commitment_type === undefined) {
    reader.note(`${PLACE}.commitment_type`, 'must say which of amount and quantity is changed');
  }
  return readLineCommitment(reader, { priceId: id, place: PLACE }, body);
}

function changeOf(
  reader: MemberReader,
  { unit, id }: { readonly unit: Unit; readonly id: string },
  body: ChangeLineItemBody,
): LineChange | null {
  const quantity = reader.decimal('quantity', body.quantity);
  const atMs = reader.instant('effective_from', body.effective_from) ?? unit.now;
  const commitment = commitmentOf(reader, id, body);
  const model = overridesModel(body) ? body : null;
  const isChanged = body.quantity !== undefined || commitment !== null || model !== null;
  if (!isChanged && body.effective_from !== undefined) {
    const remedy = 'goes with a quantity, a price or a commitment; other members change at once';
    reader.note('effective_from', remedy);
  }
  if (!isChanged) return null;
  return {
    quantity,
    model,
    commitment,
    atMs,
    hasTimeBuckets: body.commitment_time_buckets !== undefined,
    members: { at: 'effective_from', quantity: 'quantity' },
  };
}

function requestOf(unit: Unit, id: string, body: ChangeLineItemBody): Requested {
  const reader = new MemberReader();
  const change = changeOf(reader, { unit, id }, body);
  const display_name =
    body.display_name === undefined ? undefined : reader.line('display_name', body.display_name);
  const metadata = body.metadata === undefined ? undefined : { ...reader.metadata(body.metadata) };
  const problems = reader.refusal();
  if (problems !== null) throw new Refused(unnestedRefusal(problems, PLACE));
  return { change, patch: givenOf({ display_name, metadata }) };
}

async function change(
  unit: Unit,
  target: ChangeTarget,
  body: ChangeLineItemBody,
): Promise<LineItemRow> {
  const request = requestOf(unit, target.id, body);
  const held = await holdLine(unit, target.id);
  accept(targetRefusal(LINE_ITEMS, held.row, target));
  const { change: wanted, patch } = request;
  const replace = async (asked: LineChange) => (await replaceLine(unit, held, asked)).after;
  const unnested = (refusal: Refusal) => unnestedRefusal(refusal, PLACE);
  const row = wanted === null ? held.row : await reworded(() => replace(wanted), unnested);
  return Object.keys(patch).length === 0 ? row : updateRecord(unit, LINE_ITEMS, { row, patch });
}

/**
 * PUT /subscriptions/lineitems/{id}: another quantity, price or commitment ends the line item and
 * begins a successor, which is answered; the name and the metadata change in place (docs/domain.md
 * 27).
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

async function end(unit: Unit, target: ChangeTarget, body: EndLineItemBody): Promise<LineItemRow> {
  const reader = new MemberReader();
  const atMs = reader.instant('effective_from', body.effective_from) ?? unit.now;
  accept(reader.refusal());
  const held = await holdLine(unit, target.id);
  const { row } = held;
  accept(targetRefusal(LINE_ITEMS, row, target) ?? endRefusal(held, atMs));
  const isCredited = body.proration_behavior === 'create_prorations';
  const member = 'effective_from';
  if (isCredited) await creditEndedLine(unit, held, { member, atMs });
  return updateRecord(unit, LINE_ITEMS, { row, patch: { end_date: atMs } });
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

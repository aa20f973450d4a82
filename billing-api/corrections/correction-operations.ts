import type { UsageEvent } from '../../contract/usage-event.js';
import { recordsOfEvents } from '../../contract/records-of-events.js';
import { assertPresent } from '../../runtime/failure.js';
import { enqueue } from '../../sql/jobs/enqueue.js';
import {
  CORRECTIONS,
  correctionToDto,
  type ApplyCorrectionBody,
  type CorrectionRow,
  type CreateCorrectionBody,
  type RevertCorrectionBody,
} from '../declarations/corrections/correction.resource.js';
import { CORRECTION } from '../domain/lifecycle/correction-lifecycle.js';
import { findCustomerByExternalId } from '../customers/customers-store.js';
import { createRecord } from '../records/create-record.js';
import { readRecord } from '../records/find-record.js';
import { MemberReader, readInstant } from '../records/member-rules.js';
import { moveRecord } from '../records/move-record.js';
import { authorOf, type Occasion } from '../records/occasion.js';
import { invalid, isRefusal, notFound, Refusal, Refused } from '../records/refusal.js';
import { searchRecords, type Page } from '../records/search-records.js';
import type { SearchBodyRequest } from '../records/search-request.js';
import {
  readUnit,
  writeUnit,
  type ReadDependencies,
  type Unit,
  type WriteDependencies,
} from '../records/unit.js';
import { isEqual } from '../records/conditions.js';
import type { LazyEventLog } from '../usage/watermark/log-access.js';
import { correctionProblems, requestOf } from './correction-request.js';
import { findMovedSince, holdCorrections, nextMove, putInForce } from './in-force.js';

export type CorrectionDependencies = WriteDependencies & { readonly eventLog: LazyEventLog };

/** What the jobs of a correction need to know. */
export type CorrectionInput = { readonly correctionId: string };

/** As the jobs are queued; they are declared with the other jobs. */
export const PREPARE_CORRECTION = {
  name: 'prepare-correction',
  keyOf: ({ correctionId }: CorrectionInput): string => correctionId,
  onceWhileWaiting: true,
};
export const REVERT_BACKFILL = { ...PREPARE_CORRECTION, name: 'revert-backfill' };
export const FOLLOW_CORRECTION = { ...PREPARE_CORRECTION, name: 'follow-correction' };

/** Customers to whom an amendment gives events must exist. */
async function refuseUnknownCustomer(
  { tx }: Unit,
  { type, events, change }: CreateCorrectionBody,
): Promise<void> {
  if (type !== 'amend') return;
  const named = [change, ...(events ?? [])].flatMap((one) => one?.external_customer_id ?? []);
  for (const externalId of new Set(named)) {
    if ((await findCustomerByExternalId(tx, externalId)) === null) {
      throw new Refused(notFound('customer', externalId));
    }
  }
}

/** POST /corrections: stored, and prepared by a job. It changes nothing before it is applied. */
export async function createCorrection(
  dependencies: WriteDependencies,
  occasion: Occasion,
  body: CreateCorrectionBody,
): Promise<CorrectionRow | Refusal> {
  const problems = correctionProblems(body);
  if (problems !== null) return problems;
  return writeUnit(dependencies, occasion, async (unit) => {
    await refuseUnknownCustomer(unit, body);
    const row = await createRecord(unit, CORRECTIONS, {
      type: body.type,
      correction_status: 'preparing',
      reason: body.reason.trim(),
      request: requestOf(body),
      number: null,
      token: null,
      error: null,
      summary: null,
      moves_known: null,
      move_number: null,
      prepared_at: null,
      applied_at: null,
      applied_by: null,
      reverted_at: null,
      reverted_by: null,
      revert_reason: null,
    });
    await enqueue(unit, PREPARE_CORRECTION, { input: { correctionId: row.id } });
    return row;
  });
}

/** GET /corrections/{id}. */
export function readCorrection(
  dependencies: ReadDependencies,
  occasion: Occasion,
  id: string,
): Promise<CorrectionRow | Refusal> {
  return readUnit(dependencies, occasion, (unit) => readRecord(unit, CORRECTIONS, id));
}

/** GET /corrections. */
export function listCorrections(
  dependencies: ReadDependencies,
  occasion: Occasion,
  wanted: {
    readonly request: SearchBodyRequest;
    readonly type: string | undefined;
    readonly status: string | undefined;
  },
): Promise<Page<CorrectionRow> | Refusal> {
  const conditions = [
    ...isEqual('type', wanted.type),
    ...isEqual('correction_status', wanted.status),
  ] as const;
  return readUnit(dependencies, occasion, (unit) =>
    searchRecords(unit, CORRECTIONS, { request: wanted.request, conditions }),
  );
}

/** What system events tell of a correction. */
const told = (row: CorrectionRow) => Promise.resolve(correctionToDto(row));

/** The events of a backfill, in the form of the log. */
export function addedEventsOf({ request }: Pick<CorrectionRow, 'request'>): readonly UsageEvent[] {
  return (request.events ?? []).map((event) => {
    const timestamp = assertPresent(event.timestamp, 'the timestamp of an added event');
    return {
      eventId: event.event_id,
      eventName: assertPresent(event.event_name, 'the name of an added event').trim(),
      externalCustomerId: event.external_customer_id ?? null,
      customerId: event.customer_id ?? null,
      source: event.source ?? '',
      timestampMs: assertPresent(readInstant(timestamp), 'an instant that was checked'),
      isTimestampGiven: true,
      properties: event.properties ?? {},
    };
  });
}

/**
 * Appends the events of a backfill to the log, all as received when it was prepared, by which they
 * are told from others with the same ids. Doing it again is harmless, since an id counts once.
 * @throws DependencyError when the log did not confirm them; then nothing is applied.
 */
async function append(
  { eventLog }: CorrectionDependencies,
  { environment }: Occasion,
  row: CorrectionRow,
): Promise<void> {
  const writer = await eventLog.writer();
  const { partitionCount } = writer.identity;
  const receivedAtMs = assertPresent(row.prepared_at, 'when the backfill was prepared');
  const context = { environment, receivedAtMs, partitionCount };
  await writer.append(recordsOfEvents(addedEventsOf(row), context));
}

async function moveOn(
  unit: Unit,
  id: string,
  { token }: ApplyCorrectionBody,
): Promise<CorrectionRow> {
  await holdCorrections(unit);
  const moved = await moveRecord(unit, CORRECTIONS, {
    target: { id, isExpected: () => true },
    lifecycle: CORRECTION,
    move: 'apply',
    to: 'applied',
    told,
    patch: async (row) => {
      if (row.token !== token) {
        return invalid({ token: 'must be that of the preview which is to be applied' });
      }
      const known = assertPresent(row.moves_known, 'the moves that the preview knows');
      const other = await findMovedSince(unit, row, { move: known, what: 'forPreview' });
      if (other !== null) {
        const text = `correction ${other} of the same events was applied or reverted after this preview`;
        return new Refusal('invalid_operation', `${text}; create the correction again`);
      }
      const move_number = await nextMove(unit);
      return { applied_at: unit.now, applied_by: authorOf(unit.actor), move_number };
    },
  });
  // The events of a backfill are in the log, where everybody reads them.
  if (moved.type !== 'backfill') await putInForce(unit, moved, true);
  await enqueue(unit, FOLLOW_CORRECTION, { input: { correctionId: id } });
  return moved;
}

/** POST /corrections/{id}/apply: exactly what the preview of this token shows. */
export async function applyCorrection(
  dependencies: CorrectionDependencies,
  occasion: Occasion,
  { id, body }: { readonly id: string; readonly body: ApplyCorrectionBody },
): Promise<CorrectionRow | Refusal> {
  const row = await readCorrection(dependencies, occasion, id);
  if (isRefusal(row)) return row;
  const isNext = row.correction_status === 'ready' && row.token === body.token;
  if (isNext && row.type === 'backfill') await append(dependencies, occasion, row);
  return writeUnit(dependencies, occasion, (unit) => moveOn(unit, id, body));
}

/** Refuses to revert a correction while others stand that were made of what it left. */
async function refuseRevert(unit: Unit, row: CorrectionRow): Promise<void> {
  const move = assertPresent(row.move_number, 'the move of an applied correction');
  const other = await findMovedSince(unit, row, { move, what: 'forRevert' });
  if (other === null) return;
  const text = `correction ${other} of the same events was applied after this one`;
  throw new Refused(new Refusal('invalid_operation', `${text}; revert that one first`));
}

/** The end of a correction: its events count as they did before. */
export async function endCorrection(
  unit: Unit,
  id: string,
  end: { readonly isInForce: boolean; readonly reason?: string },
): Promise<CorrectionRow> {
  const moved = await moveRecord(unit, CORRECTIONS, {
    target: { id, isExpected: () => true },
    lifecycle: CORRECTION,
    move: 'revert',
    to: 'reverted',
    told,
    patch: async (row) => {
      const isFirst = row.correction_status === 'applied';
      if (isFirst) await refuseRevert(unit, row);
      const move_number = await nextMove(unit);
      const reverted = { reverted_at: unit.now, move_number };
      if (!isFirst) return reverted;
      const { reason: revert_reason = null } = end;
      return { ...reverted, reverted_by: authorOf(unit.actor), revert_reason };
    },
  });
  await putInForce(unit, moved, end.isInForce);
  await enqueue(unit, FOLLOW_CORRECTION, { input: { correctionId: id } });
  return moved;
}

/** A backfill ends by a job, since its events must be counted before they can be withdrawn. */
async function beginRevert(unit: Unit, id: string, reason: string): Promise<CorrectionRow> {
  const moved = await moveRecord(unit, CORRECTIONS, {
    target: { id, isExpected: () => true },
    lifecycle: CORRECTION,
    move: 'begin_revert',
    to: 'reverting',
    patch: async (row) => {
      await refuseRevert(unit, row);
      return { reverted_by: authorOf(unit.actor), revert_reason: reason };
    },
  });
  await enqueue(unit, REVERT_BACKFILL, { input: { correctionId: id } });
  return moved;
}

/** POST /corrections/{id}/revert: the events count again as they did before. */
export async function revertCorrection(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { id, body }: { readonly id: string; readonly body: RevertCorrectionBody },
): Promise<CorrectionRow | Refusal> {
  const reader = new MemberReader();
  const reason = reader.name('reason', body.reason);
  const problems = reader.refusal();
  if (problems !== null) return problems;
  return writeUnit(dependencies, occasion, async (unit) => {
    await holdCorrections(unit);
    const row = await readRecord(unit, CORRECTIONS, id);
    return row.type === 'backfill'
      ? beginRevert(unit, id, reason)
      : endCorrection(unit, id, { isInForce: false, reason });
  });
}

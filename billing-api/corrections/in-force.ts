import { sql } from 'slonik';
import { z } from 'zod';
import { integerColumn, noRows } from '../../sql/columns.js';
import type { CorrectionRow } from '../declarations/corrections/correction.resource.js';
import { isOfEnvironment, rowIsOfEnvironment } from '../records/conditions.js';
import type { StatementUnit, Unit } from '../records/unit.js';
import { findCorrectionsInForce } from '../usage/corrections-in-force.js';
import type { TouchedStretch } from './correction-store.js';

/** The numbers of all corrections in force, and the last move of any of them. */
export async function findInForce({
  tx,
}: StatementUnit): Promise<{ readonly numbers: readonly number[]; readonly lastMove: number }> {
  // First: a move that comes in between is then one that the preparation does not know.
  const { last: lastMove } = await tx.one(sql.type(z.object({ last: integerColumn }))`
    SELECT coalesce(max(move_number), 0)::bigint AS last FROM event_corrections
    WHERE ${isOfEnvironment}`);
  return { numbers: await findCorrectionsInForce({ tx }), lastMove };
}

const countersRow = z.object({ number: integerColumn, move: integerColumn });

/** Raises the counters of the environment, and answers them. */
function count(
  { tx, environment: { tenantId, environmentId } }: Unit,
  by: { readonly number: 0 | 1; readonly move: 0 | 1 },
): Promise<z.output<typeof countersRow>> {
  return tx.one(sql.type(countersRow)`
    INSERT INTO event_correction_counters (tenant_id, environment_id, number, move)
    VALUES (${tenantId}, ${environmentId}, ${by.number}, ${by.move})
    ON CONFLICT (tenant_id, environment_id) DO UPDATE
      SET number = event_correction_counters.number + ${by.number},
        move = event_correction_counters.move + ${by.move}
    RETURNING number, move`);
}

/** A number under which an attempt writes; never given twice. */
export async function nextNumber(unit: Unit): Promise<number> {
  return (await count(unit, { number: 1, move: 0 })).number;
}

/** One move of a correction at a time in an environment; held until the unit ends. */
export async function holdCorrections({ tx, environment }: Unit): Promise<void> {
  const name = `corrections ${environment.tenantId} ${environment.environmentId}`;
  await tx.query(sql.type(z.unknown())`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`);
}

/** The number of a move; ask under `holdCorrections`, so that moves are numbered in their order. */
export async function nextMove(unit: Unit): Promise<number> {
  return (await count(unit, { number: 0, move: 1 })).move;
}

/** Notes where a correction changes what counts, in the place of what was noted of it. */
export async function noteStretches(
  { tx, environment: { tenantId, environmentId } }: Unit,
  { id }: Pick<CorrectionRow, 'id'>,
  { number, touched }: { readonly number: number; readonly touched: readonly TouchedStretch[] },
): Promise<void> {
  await tx.query(sql.type(noRows)`
    DELETE FROM event_correction_stretches WHERE correction_id = ${id} AND ${isOfEnvironment}`);
  for (const { eventName, startMs, endMs, customerKeys } of touched) {
    await tx.query(sql.type(noRows)`
      INSERT INTO event_correction_stretches
        (tenant_id, environment_id, correction_id, number, event_name, start_ms, end_ms, customer_keys)
      VALUES (${tenantId}, ${environmentId}, ${id}, ${number}, ${eventName}, ${startMs}, ${endMs},
        ${customerKeys === null ? null : sql.array([...customerKeys], 'text')})`);
  }
}

/** The number under which a correction stands; null while it touches nothing. */
export function findNumberOf({ tx }: StatementUnit, correctionId: string): Promise<number | null> {
  return tx.maybeOneFirst(sql.type(z.object({ number: integerColumn }))`
    SELECT DISTINCT number FROM event_correction_stretches
    WHERE correction_id = ${correctionId} AND ${isOfEnvironment}`);
}

/** Looks for late usage that follow each move: the second meets what became final meanwhile. */
const LOOKS = 2;

/** Puts a correction in force, or out of it: all readers see it from the commit on. */
export async function putInForce(
  { tx }: Unit,
  { id }: Pick<CorrectionRow, 'id'>,
  isApplied: boolean,
): Promise<void> {
  await tx.query(sql.type(noRows)`
    UPDATE event_correction_stretches SET is_applied = ${isApplied}, looks_left = ${LOOKS}
    WHERE correction_id = ${id} AND ${isOfEnvironment}`);
}

/**
 * Which of two that touch each other matter. A preview knows nothing of what was moved after it; of
 * backfills only the withdrawal of their events changes what it has found. What was applied after a
 * correction was made of what that left; a backfill was not, since its events were new.
 */
const MATTERS = {
  forPreview: sql.fragment`(other.correction_status = 'reverting'
    OR other.type <> 'backfill' OR other.correction_status = 'reverted')`,
  forRevert: sql.fragment`(other.correction_status = 'applied' AND other.type <> 'backfill')`,
};

/**
 * A correction that was moved after a move, and touches events of the same name, time and customers
 * as this one; null for none.
 */
export function findMovedSince(
  { tx }: Unit,
  { id }: Pick<CorrectionRow, 'id'>,
  { move, what }: { readonly move: number; readonly what: keyof typeof MATTERS },
): Promise<string | null> {
  return tx.maybeOneFirst(sql.type(z.object({ id: z.string() }))`
    SELECT other.id FROM event_corrections AS other
    JOIN event_correction_stretches AS theirs
      ON theirs.correction_id = other.id AND ${rowIsOfEnvironment('theirs')}
    JOIN event_correction_stretches AS own ON own.event_name = theirs.event_name
      AND own.start_ms < theirs.end_ms AND theirs.start_ms < own.end_ms
      AND (own.customer_keys IS NULL OR theirs.customer_keys IS NULL
        OR own.customer_keys && theirs.customer_keys)
      AND ${rowIsOfEnvironment('own')}
    WHERE own.correction_id = ${id} AND other.id <> ${id} AND ${MATTERS[what]}
      AND (other.move_number > ${move} OR other.correction_status = 'reverting') AND ${rowIsOfEnvironment('other')}
    ORDER BY other.move_number DESC LIMIT 1`);
}

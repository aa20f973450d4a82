import { sql } from 'slonik';
import { z } from 'zod';
import { DAY_MS, formatInstant, HOUR_MS, type InstantMs } from '../../../contract/instant.js';
import { instantColumn, noRows } from '../../../sql/columns.js';
import { isOfEnvironment } from '../../records/conditions.js';
import { isRefusal } from '../../records/refusal.js';
import { mustRead, mustWrite, writeUnit } from '../../records/unit.js';
import type { TimeRange } from '../gateways/payment-gateway.js';
import type { Look } from './look-at-payments.js';
import { applySignal } from './take-signal.js';

/** So long Stripe keeps what it has told. */
const KEPT_MS = 30 * DAY_MS;
/** What is read at once; what was read stays read when the next part fails. */
const PART_MS = DAY_MS;
/** Read again each time: what is new may be listed some time after it was made. */
const AGAIN_MS = HOUR_MS;

const readRow = z.object({ signals_read_until: instantColumn.nullable() });

/** Up to when the signals of a connection were read; null: not yet. */
function findReadUntil({ needs, occasion, connection }: Look): Promise<InstantMs | null> {
  return mustRead(needs, occasion, async ({ tx }) => {
    const row = await tx.one(sql.type(readRow)`
      SELECT signals_read_until FROM connections WHERE id = ${connection.id} AND ${isOfEnvironment}`);
    return row.signals_read_until;
  });
}

async function storeReadUntil({ needs, occasion, connection }: Look, until: InstantMs) {
  await mustWrite(needs, occasion, async ({ tx }) => {
    await tx.query(sql.type(noRows)`
      UPDATE connections SET signals_read_until = ${formatInstant(until)}::timestamptz
      WHERE id = ${connection.id} AND ${isOfEnvironment}`);
    return null;
  });
}

/**
 * Takes the signals of one part that were not taken before.
 * @returns when the first one was made that could not be; null when all were.
 */
async function readPart(look: Look, range: TimeRange): Promise<InstantMs | null> {
  const { needs, occasion, connection, gateway } = look;
  let refusedAt: InstantMs | null = null;
  for (const signal of await gateway.listSignals(range)) {
    look.signal.throwIfAborted();
    const told = { connection, signal };
    const effect = await writeUnit(needs, occasion, (unit) => applySignal(unit, told));
    if (!isRefusal(effect)) continue;
    look.log.warn({ id: signal.id, reason: effect.message }, 'a lost signal could not be taken');
    refusedAt ??= signal.madeAt;
  }
  return refusedAt;
}

/**
 * Reads what a gateway has told since the last time, and takes what has not come (docs/domain.md
 * 17.9). One that cannot be taken is read again each time, as long as the gateway keeps it.
 * @param now by the clock of the gateway, which no test clock changes.
 */
export async function readSignals(look: Look, now: InstantMs): Promise<void> {
  const before = await findReadUntil(look);
  const kept = now - KEPT_MS;
  const begin = before === null ? kept : Math.max(kept, Math.min(before, now) - AGAIN_MS);
  let refusedAt: InstantMs | null = null;
  for (let from = begin; from < now; from += PART_MS) {
    const until = Math.min(from + PART_MS, now + AGAIN_MS);
    refusedAt ??= await readPart(look, { from, until });
    await storeReadUntil(look, refusedAt ?? Math.min(until, now));
    await look.progressed();
  }
}

import { mustGet, zip } from '../../../runtime/failure.js';
import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';
import { isIn } from '../../domain/lifecycle/lifecycle.js';
import { Refused } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { storeDrafts, type NewDraft, type StoredInvoice } from '../drafts/draft-invoices.js';
import { findMeterWaits, refusalOfWait } from './awaited-meters.js';
import { asComputed, finalizeDrafts } from './finalize-drafts.js';

/**
 * Stores invoices that were computed for held subscriptions, each of another one, and finalizes
 * those at once that no job finalizes later; answers in their order. One whose meter is being
 * backfilled is refused, with what is done with it: it could not be final.
 */
export async function storeInvoices(
  unit: Unit,
  invoices: readonly NewDraft[],
): Promise<readonly StoredInvoice[]> {
  const atOnce = invoices.filter(({ finalizeAt }) => finalizeAt === null);
  const waitFor = await findMeterWaits(
    unit,
    atOnce.map(({ computed }) => computed),
  );
  for (const { computed } of atOnce) {
    const wait = waitFor(computed);
    if (wait !== null) throw new Refused(refusalOfWait(wait));
  }
  const [first] = invoices;
  if (first === undefined) return [];
  const drafts = await storeDrafts(unit, invoices);
  if (atOnce.length === 0) return drafts;
  const { config } = first.computed.query;
  const stored = new Map(zip(invoices, drafts));
  const ready = atOnce.map((invoice) => asComputed(mustGet(stored, invoice, 'a stored draft')));
  const done = await finalizeDrafts(unit, config, ready);
  const after = new Map([...done.finalized, ...done.skipped].map((one) => [one.row.id, one]));
  return drafts.map((draft) => after.get(draft.row.id) ?? draft);
}

/** Whether a stored invoice charges something, or is a draft that may still. */
export const isCharged = ({ row }: StoredInvoice): boolean =>
  isIn(INVOICE, 'counted', row.invoice_status);

import { findInvoiceConfig, type InvoiceConfig } from '../../platform/settings/invoice-config.js';
import { Refused } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import type { ComputedTask } from '../drafts/compute-tasks.js';
import { storeDrafts } from '../drafts/draft-invoices.js';
import type { HeldSubscription } from '../drafts/revisions.js';
import { findMeterWaits, refusalOfWait } from './awaited-meters.js';
import { asComputed, finalizeDrafts, type Finalized } from './finalize-drafts.js';

/**
 * Stores an invoice that was computed for a held subscription, and finalizes it at once. One whose
 * meter is being backfilled is refused, with what is done with it: it could not be final.
 */
export async function storeAndFinalize(
  unit: Unit,
  computed: ComputedTask,
  { config, ...held }: HeldSubscription & { readonly config?: InvoiceConfig },
): Promise<Finalized> {
  const wait = (await findMeterWaits(unit, [computed]))(computed);
  if (wait !== null) throw new Refused(refusalOfWait(wait));
  const drafts = await storeDrafts(unit, [{ computed, held, finalizeAt: null }]);
  return finalizeDrafts(unit, config ?? (await findInvoiceConfig(unit)), drafts.map(asComputed));
}

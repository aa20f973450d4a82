import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant } from '../../contract/instant.js';
import type { Environment } from '../../contract/environment.js';
import { mustGet } from '../../runtime/failure.js';
import { integerColumn } from '../../sql/columns.js';
import type { EffectiveMeter } from '../catalog/meters/effective-meters.js';
import type { CorrectionSummary } from '../declarations/corrections/correction.resource.js';
import { decodeSnapshot } from '../domain/invoice/snapshot/invoice-snapshot.js';
import { INVOICE } from '../domain/lifecycle/invoice-lifecycle.js';
import type { EventCorrection } from '../domain/usage/event-correction.js';
import { formatMoney, Money } from '../domain/money/money.js';
import { decodeGiven } from '../documents/store/given-document.js';
import { readVerified } from '../reading/verify/verify-invoice.js';
import { measureAgain } from '../reading/verify/measure-again.js';
import { subscriptionsOfKeys } from '../subscriptions/subscriptions-of-keys.js';
import { rowIsIn, rowIsOfEnvironment } from '../records/conditions.js';
import { isRefusal } from '../records/refusal.js';
import type { StatementUnit } from '../records/unit.js';
import type { UsageReadDependencies } from '../usage/usage-customers.js';
import type { TouchedStretch } from './correction-store.js';

/** Each is measured anew from its events. */
const INVOICES_MAX = 50;

const foundRow = z.object({ ids: z.array(z.string()), count: integerColumn });

/** What a correction touches. */
export type Touched = {
  readonly meters: readonly EffectiveMeter[];
  readonly touched: readonly TouchedStretch[];
  readonly correction: Pick<EventCorrection, 'id' | 'number'>;
};

/**
 * Stored invoices with a line of a touched meter whose time the correction touches. Where it
 * touches few customers, those that count their usage.
 */
export async function findTouchedInvoices(
  { tx }: StatementUnit,
  { meters, touched }: Pick<Touched, 'meters' | 'touched'>,
): Promise<{ readonly ids: readonly string[]; readonly count: number }> {
  const stretches = new Map(touched.map((stretch) => [stretch.eventName, stretch]));
  const rows = meters.map(({ meterId, eventName }) => {
    const { startMs, endMs } = mustGet(stretches, eventName, 'the stretch of a touched meter');
    return [meterId, formatInstant(startMs), formatInstant(endMs)];
  });
  const isOfMany = touched.some(({ customerKeys }) => customerKeys === null);
  const known = touched.map(({ customerKeys }) => customerKeys).filter((keys) => keys !== null);
  return tx.one(sql.type(foundRow)`
    WITH found AS (
      SELECT DISTINCT invoices.id, invoices.created_at FROM invoice_line_items AS line
      JOIN ${sql.unnest(rows, ['text', 'timestamptz', 'timestamptz'])} AS meter (id, start_at, end_at)
        ON line.meter_id = meter.id AND line.period_start < meter.end_at AND line.period_end > meter.start_at
      JOIN invoices ON invoices.id = line.invoice_id AND ${rowIsOfEnvironment('invoices')}
      WHERE ${rowIsOfEnvironment('line')} AND ${rowIsIn(['invoices', 'invoice_status'], INVOICE, 'counted')}
        AND (${isOfMany} OR invoices.subscription_id IN (${subscriptionsOfKeys(known.flat())}))
    )
    SELECT (SELECT count(*) FROM found) AS count, coalesce((SELECT array_agg(id) FROM (
      SELECT id FROM found ORDER BY created_at DESC, id DESC LIMIT ${INVOICES_MAX}) AS newest), '{}') AS ids`);
}

async function touchedInvoice(
  dependencies: UsageReadDependencies,
  environment: Environment,
  { id, meters, touched, correction }: Touched & { readonly id: string },
): Promise<CorrectionSummary['invoices'][number] | null> {
  const found = await readVerified(dependencies, { environment }, id);
  // Given amounts, and imported invoices, were not measured.
  if (isRefusal(found) || decodeGiven(found.computation.inputs) !== null) return null;
  const { document, computation } = found;
  const { header } = document;
  const snapshot = decodeSnapshot(computation.inputs);
  const { watermark } = snapshot;
  if (watermark === null) return null;
  const stretches = new Map(touched.map((stretch) => [stretch.eventName, stretch]));
  const corrections = new Map(watermark.corrections ?? []);
  for (const { meterId, eventName } of meters) {
    const { startMs, endMs } = mustGet(stretches, eventName, 'the stretch of a touched meter');
    corrections.set(meterId, [
      ...(corrections.get(meterId) ?? []),
      { ...correction, startMs, endMs },
    ]);
  }
  const corrected = { ...snapshot, watermark: { ...watermark, corrections } };
  const result = await measureAgain(dependencies, environment, { document, snapshot: corrected });
  const { currency } = header;
  const before = formatMoney(new Money(header.total, currency));
  return {
    invoice_id: id,
    invoice_status: header.invoice_status,
    currency,
    total_before: before,
    total_after: isRefusal(result) ? null : formatMoney(result.totals.total),
    problem: isRefusal(result) ? result.message : null,
  };
}

/** These invoices as they are stored, and as they would be with the correction and nothing else. */
export async function touchedInvoices(
  dependencies: UsageReadDependencies,
  environment: Environment,
  { ids, ...of }: Touched & { readonly ids: readonly string[] },
): Promise<CorrectionSummary['invoices']> {
  const invoices: CorrectionSummary['invoices'] = [];
  for (const id of ids) {
    const invoice = await touchedInvoice(dependencies, environment, { id, ...of });
    if (invoice !== null) invoices.push(invoice);
  }
  return invoices;
}

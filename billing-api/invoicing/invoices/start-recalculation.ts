import { isIn } from '../../domain/lifecycle/lifecycle.js';
import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant } from '../../../contract/instant.js';
import { assertPresent } from '../../../runtime/failure.js';
import { enqueue } from '../../../sql/jobs/enqueue.js';
import { INVOICES, type InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import type { WorkflowRow } from '../../declarations/platform/workflow.resource.js';
import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';
import { beginWorkflow } from '../../platform/workflows/begin-workflow.js';
import { isOfEnvironment, rowIsIn, rowIsOfEnvironment } from '../../records/conditions.js';
import { lockRecord } from '../../records/find-record.js';
import { notFound, Refusal, Refused } from '../../records/refusal.js';
import { writeOperation } from '../../records/operation.js';
import type { Unit } from '../../records/unit.js';

/** The type of workflow that replaces a voided invoice. */
const RECALCULATION = 'invoice_recalculation';

/** What the job needs to know of a recalculation. */
export type RecalculationInput = { readonly invoiceId: string; readonly workflowId: string };

/** As the job is queued; it is declared with the other jobs. */
export const RECALCULATE_INVOICE = {
  name: 'recalculate-invoice',
  keyOf: ({ invoiceId }: RecalculationInput): string => invoiceId,
  onceWhileWaiting: true,
};

/** Why an invoice cannot be recalculated; null when it can (docs/domain.md 18). */
export function recalculationProblem(row: InvoiceRow): string | null {
  const { invoice_type: type, invoice_status: status, recalculated_invoice_id: replacement } = row;
  if (type !== 'SUBSCRIPTION') return `the invoice is ${type}; only one of a subscription can be`;
  if (row.billing_reason === 'MANUAL') {
    return 'the lines of the invoice were given, not computed; create another one in its place';
  }
  if (!isIn(INVOICE, 'voided', status))
    return `the invoice is ${status}; void it before it is recalculated`;
  return replacement === null ? null : `the invoice was recalculated already, as ${replacement}`;
}

function isRunning({ tx }: Unit, invoiceId: string): Promise<boolean> {
  return tx.exists(sql.type(z.unknown())`
    SELECT FROM workflows
    WHERE workflow_type = ${RECALCULATION} AND entity_id = ${invoiceId}
      AND workflow_status = 'Running' AND ${isOfEnvironment}`);
}

/**
 * Whether an invoice that counts has charged the usage of a voided threshold invoice beside its own
 * (docs/domain.md 30.1).
 */
function isChargedLater({ tx }: Unit, row: InvoiceRow): Promise<boolean> {
  if (row.billing_reason !== 'AUTO_INVOICE_THRESHOLD') return Promise.resolve(false);
  const end = formatInstant(assertPresent(row.period_end, 'the end of its period'));
  return tx.exists(sql.type(z.unknown())`
    SELECT FROM invoices AS later
    JOIN invoice_line_items AS line ON line.invoice_id = later.id AND ${rowIsOfEnvironment('line')}
    WHERE later.subscription_id = ${row.subscription_id} AND ${rowIsOfEnvironment('later')}
      AND ${rowIsIn(['later', 'invoice_status'], INVOICE, 'counted')}
      AND later.period_start >= ${end}::timestamptz AND line.price_type = 'USAGE'
      AND line.period_start < ${end}::timestamptz`);
}

/**
 * The invoice that has settled a part of a period which a voided one charged in advance: another
 * price or quantity from an instant on, or the time after an end that was undone. It counts, so a
 * replacement would leave that time out (docs/domain.md 13.5). Null when there is none.
 */
function findSettling({ tx }: Unit, row: InvoiceRow): Promise<string | null> {
  return tx.maybeOneFirst(sql.type(z.object({ id: z.string() }))`
    WITH RECURSIVE charged AS (
      SELECT line.subscription_line_item_id AS id, line.period_start,
        -- Pauses move the end of a period after it was charged.
        greatest(line.period_end, period.period_end) AS period_end
      FROM invoice_line_items AS line
      LEFT JOIN subscription_periods AS period ON period.subscription_id = ${row.subscription_id}
        AND period.period_start <= line.period_start AND period.period_end > line.period_start
        AND ${rowIsOfEnvironment('period')}
      WHERE line.invoice_id = ${row.id} AND line.kind = 'charge' AND line.price_type = 'FIXED'
        AND ${rowIsOfEnvironment('line')}
      UNION
      SELECT item.id, charged.period_start, charged.period_end
      FROM charged JOIN subscription_line_items AS item ON item.predecessor_id = charged.id
      WHERE ${rowIsOfEnvironment('item')}
    )
    SELECT settling.id FROM charged
    JOIN invoice_line_items AS line ON line.subscription_line_item_id = charged.id
      AND line.period_start < charged.period_end AND line.period_end > charged.period_start
      AND ${rowIsOfEnvironment('line')}
    JOIN invoices AS settling ON settling.id = line.invoice_id
      AND settling.billing_reason = 'PRORATION' AND ${rowIsOfEnvironment('settling')}
      AND ${rowIsIn(['settling', 'invoice_status'], INVOICE, 'counted')}
    ORDER BY settling.id LIMIT 1`);
}

async function start(unit: Unit, id: string): Promise<WorkflowRow> {
  // Two calls at once take turns here, and the second one sees the workflow of the first.
  const row = await lockRecord(unit, INVOICES, id);
  if (row === null) throw new Refused(notFound(INVOICES.name, id));
  const problem = recalculationProblem(row);
  if (problem !== null) throw new Refused(new Refusal('invalid_operation', problem));
  if (await isChargedLater(unit, row)) {
    const text = 'a later invoice of the same period charges its usage; recalculate that one';
    throw new Refused(new Refusal('invalid_operation', text));
  }
  const settling = await findSettling(unit, row);
  if (settling !== null) {
    const text = `invoice ${settling} settles a part of a period that this one charged; void it first`;
    throw new Refused(
      new Refusal('invalid_operation', `${text}, so that the replacement charges all of it`),
    );
  }
  if (await isRunning(unit, id)) {
    throw new Refused(new Refusal('invalid_operation', 'the invoice is being recalculated'));
  }
  const workflow = await beginWorkflow(unit, { type: RECALCULATION, entity: 'invoice', id });
  const input = { invoiceId: id, workflowId: workflow.id };
  await enqueue(unit, RECALCULATE_INVOICE, { input });
  return workflow;
}

/**
 * POST /invoices/{id}/recalculate: begins to replace a voided invoice by one from current data. The
 * job does it after this is committed; the workflow tells when it is done.
 */
export const startRecalculation = writeOperation((unit, id: string) => start(unit, id));

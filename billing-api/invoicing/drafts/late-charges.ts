import { sql } from 'slonik';
import { z } from 'zod';
import { decimalOf, ZERO } from '../../../contract/number/decimal.js';
import { groupBy } from '../../../runtime/group-by.js';
import { instantColumn, numericColumn } from '../../../sql/columns.js';
import type { ChargedLine, LineKind } from '../../domain/invoice/invoice.js';
import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';
import { rowIsIn, rowIsOfEnvironment } from '../../records/conditions.js';
import type { StatementUnit } from '../../records/unit.js';
import type { DocumentLine } from '../../documents/invoice-document.js';
import type { InvoiceTask } from './invoice-task.js';

const KINDS = ['charge', 'overage', 'true_up', 'credit'] as const satisfies readonly LineKind[];

const chargeRow = z.object({
  invoice_id: z.string(),
  late_invoice_id: z.string(),
  subscription_id: z.string(),
  invoice_start: instantColumn,
  invoice_end: instantColumn,
  billing_reason: z.string(),
  kind: z.enum(KINDS),
  subscription_line_item_id: z.string().nullable(),
  child_id: z.string().nullable(),
  period_start: instantColumn,
  display_name: z.string(),
  quantity: numericColumn,
  amount: numericColumn,
  committed: numericColumn,
});
type ChargeRow = z.output<typeof chargeRow>;

/** What an invoice charged for late usage of a period. */
export type LateCharge = {
  readonly charged: ChargedLine;
  /** The invoice of that period. */
  readonly lateInvoiceId: string;
  /** Which period that is: the invoice may have been voided, and another one in its place. */
  readonly period: Pick<InvoiceTask, 'period' | 'reason' | 'subscriptionId'>;
};

/** Tells apart what invoices are made for. */
export const periodNameOf = ({
  subscriptionId,
  reason,
  period,
}: Pick<InvoiceTask, 'period' | 'reason' | 'subscriptionId'>): string =>
  JSON.stringify([subscriptionId, reason, period.startMs, period.endMs]);

function chargeOf(row: ChargeRow): LateCharge {
  return {
    lateInvoiceId: row.late_invoice_id,
    charged: {
      invoiceId: row.invoice_id,
      displayName: row.display_name,
      kind: row.kind,
      lineItemId: row.subscription_line_item_id,
      childId: row.child_id,
      startMs: row.period_start,
      quantity: decimalOf(row.quantity),
      amount: decimalOf(row.amount),
      committed: decimalOf(row.committed),
    },
    period: {
      subscriptionId: row.subscription_id,
      // Written from a reason of billing, which the column keeps.
      reason: row.billing_reason as InvoiceTask['reason'],
      period: { startMs: row.invoice_start, endMs: row.invoice_end },
    },
  };
}

/**
 * What invoices that count have charged for late usage of these subscriptions, by the name of the
 * period. Invoices that are computed now are left out.
 */
export async function findLateCharges(
  { tx }: StatementUnit,
  subscriptionIds: readonly string[],
  exceptIds: readonly string[],
): Promise<ReadonlyMap<string, readonly LateCharge[]>> {
  const rows = await tx.any(sql.type(chargeRow)`
    SELECT line.invoice_id, line.late_invoice_id, of_period.subscription_id,
      of_period.period_start AS invoice_start, of_period.period_end AS invoice_end,
      of_period.billing_reason, line.kind, line.subscription_line_item_id,
      line.subscription_id AS child_id, line.period_start, line.display_name, line.quantity,
      line.amount - line.line_item_discount - line.invoice_level_discount AS amount,
      coalesce(line.committed_amount, 0) AS committed
    FROM invoices AS of_period
    JOIN invoice_line_items AS line ON line.late_invoice_id = of_period.id
      AND ${rowIsOfEnvironment('line')}
    JOIN invoices AS charging ON charging.id = line.invoice_id AND ${rowIsOfEnvironment('charging')}
      AND ${rowIsIn(['charging', 'invoice_status'], INVOICE, 'counted')}
    WHERE of_period.subscription_id = ANY (${sql.array([...subscriptionIds], 'text')})
      AND line.invoice_id <> ALL (${sql.array([...exceptIds], 'text')})
      AND ${rowIsOfEnvironment('of_period')}
    ORDER BY of_period.period_start, line.invoice_id, line.position`);
  return groupBy(rows.map(chargeOf), ({ period }) => periodNameOf(period));
}

/** What an invoice charged for its own period. */
export function chargedLinesOf(
  invoiceId: string,
  lines: readonly DocumentLine[],
): readonly ChargedLine[] {
  return lines
    .filter(({ late_invoice_id: lateId }) => lateId === null)
    .map((line) => ({
      invoiceId,
      displayName: line.display_name,
      kind: line.kind,
      lineItemId: line.subscription_line_item_id,
      childId: line.subscription_id,
      // A computed line has a period.
      startMs: line.period_start ?? Number.NaN,
      quantity: line.quantity,
      amount: line.amount.minus(line.line_item_discount).minus(line.invoice_level_discount),
      // Absent means zero: the line belongs to no commitment.
      committed: line.committed_amount ?? ZERO,
    }));
}

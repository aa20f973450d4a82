import { sql } from 'slonik';
import { z } from 'zod';
import { plain, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import { noRows } from '../../../sql/columns.js';
import { placeOf } from '../../domain/invoice/line-place.js';
import type { Late } from '../../domain/invoice/pricing/late-lines.js';
import { CURRENT_ENVIRONMENT, isOfEnvironment } from '../../records/conditions.js';
import { instantToDto } from '../../records/record-dto.js';
import type { Unit } from '../../records/unit.js';

/** When the events of a line came that its invoice does not count. */
export type Arrivals = {
  readonly eventCount: number;
  readonly firstMs: InstantMs | null;
  readonly lastMs: InstantMs | null;
};

/** A final invoice of which usage may have come late, as it was measured again. */
export type MeasuredLate = {
  readonly invoiceId: string;
  readonly subscriptionId: string;
  readonly customerId: string;
  readonly currency: string;
  /** All of its lines. */
  readonly lines: readonly { readonly late: Late; readonly arrivals: Arrivals }[];
};

/** What the line is known to need beyond what its own invoice charged. */
function moreOf({ period, place, now }: Late): {
  readonly quantity: Decimal;
  readonly amount: Decimal;
  readonly isChargedSince: boolean;
} {
  const name = placeOf(place);
  const charged = period.charged.filter((one) => placeOf(one) === name);
  const own = charged.filter(({ invoiceId }) => invoiceId === period.invoiceId);
  const sum = (of: 'quantity' | 'amount') => own.reduce((all, one) => all.plus(one[of]), ZERO);
  return {
    quantity: now.quantity.minus(sum('quantity')),
    amount: now.amount.minus(sum('amount')),
    isChargedSince: own.length < charged.length,
  };
}

function rowsOf({ lines, ...invoice }: MeasuredLate, now: InstantMs) {
  return lines.flatMap(({ late, arrivals }) => {
    const { place, line, period } = late;
    const { quantity, amount, isChargedSince } = moreOf(late);
    const usage = line === null ? null : line.trace.usage;
    const isLate = !amount.isZero() || (usage !== null && !quantity.isZero());
    if (!isLate && !isChargedSince) return [];
    const { startMs, endMs } = line?.period ?? period.inputs.period;
    return [
      {
        invoice_id: invoice.invoiceId,
        place: placeOf(place),
        subscription_id: invoice.subscriptionId,
        customer_id: invoice.customerId,
        kind: place.kind,
        subscription_line_item_id: place.lineItemId,
        child_subscription_id: place.childId,
        meter_id: usage?.meterId ?? null,
        display_name: late.displayName,
        currency: invoice.currency,
        period_start: formatInstant(startMs),
        period_end: formatInstant(endMs),
        quantity: plain(quantity),
        amount: plain(amount),
        event_count: arrivals.eventCount,
        first_received_at: instantToDto(arrivals.firstMs),
        last_received_at: instantToDto(arrivals.lastMs),
        seen_at: formatInstant(now),
      },
    ];
  });
}

/** What is told of a line whose late usage is new, or has become another one. */
const changedRow = z.object({
  invoice_id: z.string(),
  display_name: z.string(),
  meter_id: z.string().nullable(),
  subscription_line_item_id: z.string().nullable(),
  quantity: z.string(),
  amount: z.string(),
});
export type ChangedLate = z.output<typeof changedRow>;

/**
 * Keeps what is known of the late usage of these invoices, in the place of what was known before.
 * @returns the lines that have changed, so that they are told of once.
 */
export async function storeLateUsage(
  { tx, now }: Unit,
  measured: readonly MeasuredLate[],
): Promise<readonly ChangedLate[]> {
  const ids = sql.array(
    measured.map(({ invoiceId }) => invoiceId),
    'text',
  );
  const rows = measured.flatMap((one) => rowsOf(one, now));
  const given = JSON.stringify(rows);
  await tx.query(sql.type(noRows)`
    DELETE FROM late_usage AS known
    WHERE known.invoice_id = ANY (${ids}) AND ${isOfEnvironment} AND NOT EXISTS (
      SELECT FROM jsonb_populate_recordset(NULL::late_usage, ${given}::jsonb) AS given
      WHERE given.invoice_id = known.invoice_id AND given.place = known.place)`);
  return tx.any(sql.type(changedRow)`
    INSERT INTO late_usage AS known (tenant_id, environment_id, invoice_id, place, subscription_id,
      customer_id, kind, subscription_line_item_id, child_subscription_id, meter_id, display_name,
      currency, period_start, period_end, quantity, amount, event_count, first_received_at,
      last_received_at, seen_at)
    SELECT ${CURRENT_ENVIRONMENT}, invoice_id, place, subscription_id, customer_id, kind,
      subscription_line_item_id, child_subscription_id, meter_id, display_name, currency,
      period_start, period_end, quantity, amount, event_count, first_received_at, last_received_at,
      seen_at
    FROM jsonb_populate_recordset(NULL::late_usage, ${given}::jsonb) AS given
    ON CONFLICT (tenant_id, environment_id, invoice_id, place) DO UPDATE
    SET quantity = excluded.quantity, amount = excluded.amount, event_count = excluded.event_count,
      first_received_at = excluded.first_received_at, last_received_at = excluded.last_received_at,
      seen_at = excluded.seen_at
    WHERE known.quantity <> excluded.quantity OR known.amount <> excluded.amount
    RETURNING invoice_id, display_name, meter_id, subscription_line_item_id, quantity, amount`);
}

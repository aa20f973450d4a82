import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant } from '../../../contract/instant.js';
import { integerColumn, noRows } from '../../../sql/columns.js';
import { numberSeries, numberText } from '../../domain/invoice/pricing/invoice-number.js';
import type { InvoiceConfig } from '../../platform/settings/invoice-config.js';
import { CURRENT_ENVIRONMENT, isOfEnvironment } from '../../records/conditions.js';
import type { Unit } from '../../records/unit.js';

const counterRow = z.object({ last_number: integerColumn });
const numberRow = z.object({ invoice_number: z.string() });

/**
 * Takes the next numbers of a series. Who takes one waits until every unit that took some before
 * has ended: so they are taken last, and given back when the unit is rolled back.
 * @returns the first of them.
 */
async function takeCounters(
  { tx, now }: Unit,
  series: string,
  { count, first }: { readonly count: number; readonly first: number },
): Promise<number> {
  const { last_number: last } = await tx.one(sql.type(counterRow)`
    INSERT INTO number_counters AS counter
      (tenant_id, environment_id, series, last_number, first_number, taken_at)
    VALUES (${CURRENT_ENVIRONMENT}, ${series}, ${first - 1 + count}, ${first},
      ${formatInstant(now)}::timestamptz)
    ON CONFLICT (tenant_id, environment_id, series)
    DO UPDATE SET last_number = counter.last_number + ${count}, taken_at = excluded.taken_at
    RETURNING last_number`);
  return last - count + 1;
}

/** Which of these numbers invoices have already, because a caller gave them to one. */
async function findTaken({ tx }: Unit, numbers: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await tx.any(sql.type(numberRow)`
    SELECT invoice_number FROM invoices
    WHERE invoice_number = ANY (${sql.array([...numbers], 'text')}) AND ${isOfEnvironment}`);
  return new Set(rows.map((row) => row.invoice_number));
}

/** Notes that numbers of a series were not given to anybody, so that no gap is seen in it. */
async function passOver({ tx }: Unit, series: string, count: number): Promise<void> {
  await tx.query(sql.type(noRows)`
    UPDATE number_counters SET passed_over = passed_over + ${count}
    WHERE series = ${series} AND ${isOfEnvironment}`);
}

/** A number of an invoice, and the series from which it was taken. */
export type TakenNumber = { readonly number: string; readonly series: string };

/**
 * Takes numbers for invoices that are finalized now (docs/domain.md 16). A number that a caller
 * gave to an invoice is passed over.
 */
export async function takeInvoiceNumbers(
  unit: Unit,
  config: InvoiceConfig,
  count: number,
): Promise<readonly TakenNumber[]> {
  const series = numberSeries(config, unit.now);
  const numbers: string[] = [];
  while (numbers.length < count) {
    const missing = count - numbers.length;
    const first = await takeCounters(unit, series, {
      count: missing,
      first: config.start_sequence,
    });
    const taken = Array.from({ length: missing }, (_, index) =>
      numberText(series, first + index, config),
    );
    const used = await findTaken(unit, taken);
    numbers.push(...taken.filter((number) => !used.has(number)));
    if (used.size > 0) await passOver(unit, series, used.size);
  }
  return numbers.map((number) => ({ number, series }));
}

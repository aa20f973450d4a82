import { sql } from 'slonik';
import { z } from 'zod';
import { assertPresent } from '../../../runtime/failure.js';
import { integerColumn } from '../../../sql/columns.js';
import { numberSeries, numberText } from '../../domain/invoice/build/invoice-number.js';
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
  { tx }: Unit,
  series: string,
  { count, first }: { readonly count: number; readonly first: number },
): Promise<number> {
  const { last_number: last } = await tx.one(sql.type(counterRow)`
    INSERT INTO number_counters AS counter (tenant_id, environment_id, series, last_number)
    VALUES (${CURRENT_ENVIRONMENT}, ${`invoice ${series}`}, ${first - 1 + count})
    ON CONFLICT (tenant_id, environment_id, series)
    DO UPDATE SET last_number = counter.last_number + ${count}
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

/**
 * Takes numbers for invoices that are finalized now (docs/domain.md 16). A number that a caller
 * gave to an invoice is passed over.
 */
export async function takeInvoiceNumbers(
  unit: Unit,
  config: InvoiceConfig,
  count: number,
): Promise<readonly string[]> {
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
  }
  return numbers;
}

/** As `takeInvoiceNumbers`, one. */
export async function takeInvoiceNumber(unit: Unit, config: InvoiceConfig): Promise<string> {
  const [number] = await takeInvoiceNumbers(unit, config, 1);
  return assertPresent(number, 'the number of an invoice');
}

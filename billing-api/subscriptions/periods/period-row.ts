import { z } from 'zod';
import { parseInstant } from '../../../contract/instant.js';
import { instantColumn } from '../../../sql/columns.js';
import { assertPresent } from '../../../runtime/failure.js';
import type { LedgerPeriod } from '../../domain/periods/period-ledger.js';

const instantText = z
  .string()
  .transform((text) => assertPresent(parseInstant(text), 'the instant of a pause'));

/** A row of `subscription_periods`. */
export const periodRow = z.object({
  subscription_id: z.string(),
  period_index: z.number().int(),
  kind: z.enum(['trial', 'regular', 'threshold', 'last']),
  period_start: instantColumn,
  period_end: instantColumn,
  anchor: instantColumn,
  anchor_number: z.number().int(),
  grid_number: z.number().int(),
  grid_start: instantColumn,
  grid_end: instantColumn,
  pauses: z.array(z.object({ start: instantText, end: instantText })),
});
export type PeriodRow = z.infer<typeof periodRow>;

/** A period as the domain reads it. */
export function periodFromRow(row: PeriodRow): LedgerPeriod {
  return {
    index: row.period_index,
    kind: row.kind,
    startMs: row.period_start,
    endMs: row.period_end,
    anchor: { atMs: row.anchor, number: row.anchor_number },
    gridNumber: row.grid_number,
    grid: { startMs: row.grid_start, endMs: row.grid_end },
    pauses: row.pauses.map(({ start, end }) => ({ startMs: start, endMs: end })),
  };
}

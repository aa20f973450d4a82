import { sql } from 'slonik';
import { z } from 'zod';
import { maxOf, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import type { InvoiceLine } from '../../domain/invoice/invoice.js';
import { mustGet } from '../../../runtime/failure.js';
import { isOfEnvironment } from '../../records/conditions.js';
import type { StatementUnit } from '../../records/unit.js';
import type { ComputedTask } from '../../invoicing/drafts/compute-tasks.js';

/** What a usage line left of its allowance; null where it had none, or one without a limit. */
function leftOf({ trace: { usage } }: InvoiceLine): Decimal | null {
  const allowance = usage?.allowance ?? null;
  if (allowance === null || allowance.limit === null) return null;
  // The last window is the one that was running.
  const running = allowance.windows.at(-1);
  return running === undefined
    ? allowance.limit
    : maxOf(ZERO, allowance.limit.minus(running.usedUntil));
}

const featureRow = z.object({ id: z.string(), meter_id: z.string() });

/**
 * What a final invoice left of the allowances of features: it is added to those of the next plan
 * (docs/domain.md 25.3).
 */
export async function findLeftAllowances(
  { tx }: StatementUnit,
  final: ComputedTask | null,
): Promise<ReadonlyMap<string, Decimal>> {
  const lines = final === null ? [] : final.invoice.lines;
  const left = new Map<string, Decimal>();
  for (const line of lines) {
    // Late usage is that of an earlier period.
    if (line.late !== undefined) continue;
    const meterId = line.trace.usage?.meterId ?? null;
    const own = leftOf(line);
    if (meterId !== null && own !== null) left.set(meterId, own);
  }
  if (left.size === 0) return new Map();
  const features = await tx.any(sql.type(featureRow)`
    SELECT id, meter_id FROM features
    WHERE meter_id = ANY (${sql.array([...left.keys()], 'text')}) AND ${isOfEnvironment}`);
  return new Map(
    features.map(({ id, meter_id: meterId }) => [
      id,
      mustGet(left, meterId, 'what is left of a feature whose meter was asked for'),
    ]),
  );
}

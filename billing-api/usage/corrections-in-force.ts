import { sql } from 'slonik';
import { z } from 'zod';
import { isOfEnvironment } from '../records/conditions.js';
import type { StatementUnit } from '../records/unit.js';

const numbersRow = z.object({ numbers: z.array(z.string().transform(Number)) });

/** The numbers of all corrections of events that are in force, ascending. */
export async function findCorrectionsInForce({ tx }: StatementUnit): Promise<readonly number[]> {
  const { numbers } = await tx.one(sql.type(numbersRow)`
    SELECT coalesce(array_agg(DISTINCT number::text), '{}') AS numbers
    FROM event_correction_stretches WHERE is_applied AND ${isOfEnvironment}`);
  return numbers.toSorted((left, right) => left - right);
}

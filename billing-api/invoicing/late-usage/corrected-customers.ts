import { sql } from 'slonik';
import { z } from 'zod';
import type { ClickHouse } from '../../../clickhouse/client.js';
import { queryFile } from '../../../clickhouse/query-file.js';
import type { Environment } from '../../../contract/environment.js';
import { integerColumn, noRows } from '../../../sql/columns.js';
import { rowIsOfEnvironment } from '../../records/conditions.js';
import type { BillingDatabase, StatementUnit, Unit } from '../../records/unit.js';
import type { LateCustomer } from './late-candidates.js';

const PAGE = 20_000;

const CUSTOMERS = queryFile('list-corrected-customers');

const customerRow = z.object({
  customer_key: z.string(),
  first_ms: z.string().transform(Number),
});

/** The customers in whose usage corrections change something, page by page. */
export async function* correctedCustomersOf(
  clickHouse: Pick<ClickHouse, 'query'>,
  environment: Environment,
  numbers: readonly number[],
): AsyncGenerator<readonly LateCustomer[]> {
  let afterKey = '';
  for (;;) {
    const parameters = { ...environment, numbers, afterKey, rowsMax: PAGE };
    const rows = await clickHouse.query(CUSTOMERS, parameters, customerRow);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map((row) => ({ key: row.customer_key, firstMs: row.first_ms }));
    if (rows.length < PAGE) return;
    afterKey = last.customer_key;
  }
}

const movedRow = z.object({
  correction_id: z.string(),
  number: integerColumn,
  move_number: integerColumn,
});

/** A correction that was applied or reverted, and is to be looked at. */
export type MovedCorrection = z.output<typeof movedRow>;

/** Corrections that a look of this environment has to follow. */
export function findMovedCorrections({ tx }: StatementUnit): Promise<readonly MovedCorrection[]> {
  return tx.any(sql.type(movedRow)`
    SELECT DISTINCT stretch.correction_id, stretch.number, correction.move_number
    FROM event_correction_stretches AS stretch
    JOIN event_corrections AS correction
      ON correction.id = stretch.correction_id AND ${rowIsOfEnvironment('correction')}
    WHERE stretch.looks_left > 0 AND correction.move_number IS NOT NULL AND ${rowIsOfEnvironment('stretch')}
    ORDER BY stretch.number`);
}

/** Notes that a look has followed these; not those that were moved again meanwhile. */
export async function noteLookedAt({ tx }: Unit, moved: readonly MovedCorrection[]): Promise<void> {
  await tx.query(sql.type(noRows)`
    UPDATE event_correction_stretches AS stretch SET looks_left = looks_left - 1
    FROM jsonb_to_recordset(${JSON.stringify(moved)}::jsonb) AS looked (correction_id text, number bigint, move_number bigint),
      event_corrections AS correction
    WHERE stretch.correction_id = looked.correction_id AND stretch.number = looked.number
      AND correction.id = looked.correction_id AND correction.move_number = looked.move_number
      AND stretch.looks_left > 0 AND ${rowIsOfEnvironment('stretch')} AND ${rowIsOfEnvironment('correction')}`);
}

/** The environments in which corrections are to be looked at. */
export async function listEnvironmentsToLookAt({
  slonik,
}: BillingDatabase): Promise<readonly Environment[]> {
  const row = z.object({ tenant_id: z.string(), environment_id: z.string() });
  const rows = await slonik.any(sql.type(row)`SELECT * FROM list_environments_to_look_at()`);
  return rows.map(({ tenant_id: tenantId, environment_id: environmentId }) => {
    return { tenantId, environmentId };
  });
}

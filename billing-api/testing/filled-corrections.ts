import { sql } from 'slonik';
import type { Environment } from '../../contract/environment.js';
import { ownerOf } from '../../load-tests/harness/owner.js';
import type { Database } from '../../sql/pool.js';

/** The token of the correction that is ready. */
export const CORRECTION_TOKEN = 'preview_01J00000000000000000000A0C';

const SUMMARY = {
  events: 1,
  customers: 1,
  event_names: ['api.request'],
  start_time: '2026-01-05T08:00:00.000Z',
  end_time: '2026-01-05T08:01:00.000Z',
  quantities: [],
  invoices: [],
  invoice_count: 0,
};

/** A correction that is ready and one that is applied, as the job leaves them; of no event. */
export async function makeCorrections(
  database: Database,
  { tenantId, environmentId }: Environment,
  make: (path: string, body: object) => Promise<{ readonly id: string }>,
): Promise<{ correction: string; applied_correction: string }> {
  const events = [{ event_id: 'order-1040' }];
  const body = { type: 'withdraw', reason: 'sent twice by the gateway', events };
  const ready = await make('/v1/corrections', body);
  const applied = await make('/v1/corrections', body);
  const at = '2026-01-20T12:00:00.000Z';
  const owner = ownerOf(database);
  for (const { id } of [ready, applied]) {
    await owner.query(sql.unsafe`
      UPDATE event_corrections SET correction_status = 'ready', token = ${CORRECTION_TOKEN},
        number = (SELECT count(*) FROM event_corrections WHERE environment_id = ${environmentId}), moves_known = 0, prepared_at = ${at},
        summary = ${JSON.stringify(SUMMARY)}::jsonb
      WHERE id = ${id}`);
    await owner.query(sql.unsafe`
      INSERT INTO event_correction_stretches
        (tenant_id, environment_id, correction_id, number, event_name, start_ms, end_ms, customer_keys)
      SELECT ${tenantId}, ${environmentId}, id, number, 'api.request', 1767600000000, 1767600060000, '{}'
      FROM event_corrections WHERE id = ${id}`);
  }
  await owner.query(sql.unsafe`
    UPDATE event_corrections SET correction_status = 'applied', applied_at = ${at},
      applied_by = created_by, move_number = 1
    WHERE id = ${applied.id}`);
  await owner.query(sql.unsafe`
    INSERT INTO event_correction_counters (tenant_id, environment_id, number, move)
    VALUES (${tenantId}, ${environmentId}, 2, 1) ON CONFLICT DO NOTHING`);
  return { correction: ready.id, applied_correction: applied.id };
}

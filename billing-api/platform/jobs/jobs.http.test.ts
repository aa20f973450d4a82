import { describe, expect } from 'vitest';
import { sql } from 'slonik';
import { z } from 'zod';
import type { Environment } from '../../../contract/environment.js';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import type { Database } from '../../../sql/pool.js';
import { makeKey, test } from '../../testing/billing-test.js';

const PARKED = {
  status: 'parked',
  attempts: 10,
  error: 'ClickHouse: Timeout error.',
  parked_at: '2026-11-20T12:00:00.000Z',
} as const;
const WAITING = { status: 'waiting', attempts: 2, error: 'not yet', parked_at: null } as const;

async function storeJob(
  database: Database,
  id: string,
  { environment, state }: { environment: Environment; state: typeof PARKED | typeof WAITING },
): Promise<void> {
  const { tenantId, environmentId } = environment;
  const turn = `${tenantId}|${environmentId}`;
  await ownerOf(database).query(sql.type(z.unknown())`
    INSERT INTO jobs (id, name, tenant_id, environment_id, turn, key, input, status, attempts, error,
      parked_at, due_at, run_at, created_at)
    VALUES (${id}, 'renew', ${tenantId}, ${environmentId}, ${turn}, 'k', '{"a": 1}', ${state.status},
      ${state.attempts}, ${state.error}, ${state.parked_at}::timestamptz, '2026-11-20T10:00:00Z',
      '2026-11-20T11:00:00Z', '2026-11-20T10:00:00Z')`);
}

describe('jobs of an environment', () => {
  test('are listed with their reasons, without those of others and of no environment', async ({
    api,
    database,
  }) => {
    const { environment } = api;
    await storeJob(database.database, 'job_1', { environment, state: PARKED });
    await storeJob(database.database, 'job_2', { environment, state: WAITING });
    const second = { body: { name: 'Second', type: 'development' } };
    const made = await api.call('POST', '/v1/environments', second);
    const other = { tenantId: environment.tenantId, environmentId: made.body.id as string };
    await storeJob(database.database, 'job_3', { environment: other, state: PARKED });
    const listed = await api.call('GET', '/v1/jobs');
    expect(listed.body.items).toEqual([
      {
        id: 'job_1',
        job: 'renew',
        key: 'k',
        input: { a: 1 },
        status: 'parked',
        attempts: 10,
        due_at: '2026-11-20T10:00:00.000Z',
        next_attempt_at: null,
        error: PARKED.error,
        parked_at: PARKED.parked_at,
        created_at: '2026-11-20T10:00:00.000Z',
      },
      expect.objectContaining({
        id: 'job_2',
        next_attempt_at: '2026-11-20T11:00:00.000Z',
        parked_at: null,
      }),
    ]);
    const parked = await api.call('GET', '/v1/jobs?status=parked&job=renew');
    expect(parked.body.pagination).toEqual({ limit: 50, offset: 0, total: 1 });
    expect((await api.call('GET', '/v1/jobs?job=other')).body.items).toEqual([]);
  });

  test('that are parked can be run again, with all of their tries, and the audit trail says by whom', async ({
    api,
    database,
  }) => {
    const { environment } = api;
    await storeJob(database.database, 'job_1', { environment, state: PARKED });
    await storeJob(database.database, 'job_2', { environment, state: WAITING });
    const again = await api.call('POST', '/v1/jobs/job_1/retry');
    expect(again.status).toBe(200);
    expect(again.body).toMatchObject({ status: 'waiting', attempts: 0, parked_at: null });
    expect(again.body.next_attempt_at).not.toBeNull();
    for (const [id, status, code] of [
      ['job_1', 400, 'invalid_operation'],
      ['job_2', 400, 'invalid_operation'],
      ['job_9', 404, 'not_found'],
    ] as const) {
      const refused = await api.call('POST', `/v1/jobs/${id}/retry`);
      expect([id, refused.status, refused.body.code]).toEqual([id, status, code]);
    }
    const trail = await api.call('POST', '/v1/audit/search', { body: { entity_type: 'job' } });
    expect(trail.body.items).toMatchObject([
      { entity_id: 'job_1', action: 'updated', before: { status: 'parked' } },
    ]);
  });

  test('are for a super_admin only', async ({ api, database }) => {
    const { environment } = api;
    for (const role of ['all_writer', 'all_reader']) {
      const { apiKey } = await makeKey(database.database, { environment, roles: [role] });
      const headers = { 'x-api-key': apiKey };
      expect((await api.call('GET', '/v1/jobs', { headers })).status).toBe(403);
      expect((await api.call('POST', '/v1/jobs/x/retry', { headers })).status).toBe(403);
    }
  });
});

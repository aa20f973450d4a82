import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { sql } from 'slonik';
import { describe, expect, vi } from 'vitest';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import { anchorLedger } from '../../jobs/anchor-ledgers.js';
import { billingNeeds } from '../../testing/bill-environment.js';
import { test as billedTest } from '../../testing/billed-test.js';
import { makeExportWorld, type ExportWorld } from '../../testing/export-world.js';
import { expectRefused, type Answer } from '../../testing/money-test.js';
import { startObjectStore, type ObjectStore } from '../../testing/object-store.js';
import { makePricedPlan } from '../../testing/priced-plan.js';
import { invoiceOf, makeWallet, topUp, FREE } from '../../testing/wallet-calls.js';
import { workUntilKilled } from '../../testing/work-until-killed.js';
import { payOpen } from '../../testing/pay-open.js';

const NOW = '2026-03-01T10:03:00.000Z';

type World = ExportWorld & {
  readonly store: ObjectStore;
  /** The lines of a file. */
  readonly lines: (key: string) => readonly string[];
  readonly manifest: (key: string) => Answer;
};

const test = billedTest.extend<{ world: World }>({
  world: async ({ api, database, clickhouse }, use) => {
    const store = await startObjectStore();
    const world = await makeExportWorld(
      api,
      { database, clickhouse },
      { url: store.url, now: NOW },
    );
    const bytes = (key: string) => store.objects.get(`/lake/${key}`)?.body ?? Buffer.from('');
    await use({
      ...world,
      store,
      lines: (key) => {
        const body = bytes(key);
        const text = key.endsWith('.gz') ? gunzipSync(body) : body;
        return text.toString().split('\r\n').slice(0, -1);
      },
      manifest: (key) => JSON.parse(bytes(`${key}.manifest.json`).toString()) as Answer,
    });
    await store.close();
  },
});

const FIRST = '260301100000-260301110000';

describe('connections', () => {
  test('never answer their secrets, and keep them unreadable', async ({ api, database, world }) => {
    const { id } = world.connection;
    const answers = [world.connection, (await api.call('GET', `/v1/connections/${id}`)).body];
    expect(JSON.stringify(answers)).not.toContain('example');
    const kept = await ownerOf(database.database).any(sql.unsafe`
      SELECT encode(secrets, 'escape') AS text FROM connections`);
    expect(JSON.stringify(kept)).not.toContain('example');
    const audit = await api.make('/v1/audit/search', { entity_id: id });
    expect(JSON.stringify(audit)).not.toContain('example');
    const changed = await api.call('PUT', `/v1/connections/${id}`, { body: { name: 'Sea' } });
    expect(changed.body).toMatchObject({ name: 'Sea', provider_type: 's3' });
  });

  test('that a task needs are kept', async ({ api, world }) => {
    const scheduled = await world.schedule('invoice');
    const path = `/v1/connections/${world.connection.id}`;
    const refused = await api.call('DELETE', path);
    expect(refused.body.message).toMatch(/has scheduled tasks/);
    await api.call('DELETE', `/v1/tasks/scheduled/${scheduled.id}`);
    expect((await api.call('DELETE', path)).status).toBe(200);
  });
});

describe('GET /tasks/scheduled', () => {
  test('lists tasks as the specification has them, by each of its members', async ({
    api,
    world,
  }) => {
    const events = await world.schedule('events', { interval: '15MIN', enabled: false });
    const invoices = await world.schedule('invoice');
    expect(events).toMatchObject({
      connection_id: world.connection.id,
      entity_type: 'events',
      interval: '15MIN',
      enabled: false,
      status: 'published',
      tenant_id: api.environment.tenantId,
      job_config: {
        bucket: 'lake',
        region: 'eu-central-1',
        endpoint_url: world.store.url,
        key_prefix: null,
        use_path_style: true,
        compression: 'none',
        encryption: 'AES256',
        export_metadata_fields: [],
      },
    });
    const ids = async (query: string) => {
      const { body } = await api.call('GET', `/v1/tasks/scheduled?${query}`);
      return [body.items.map((one: Answer) => one.id), body.pagination.total];
    };
    expect(await ids('')).toEqual([[invoices.id, events.id], 2]);
    expect(await ids('limit=1&offset=1')).toEqual([[events.id], 2]);
    expect(await ids('entity_type=events')).toEqual([[events.id], 1]);
    expect(await ids('interval=hourly')).toEqual([[invoices.id], 1]);
    expect(await ids('enabled=true')).toEqual([[invoices.id], 1]);
    expect(await ids('enabled=false')).toEqual([[events.id], 1]);
    expect(await ids(`connection_id=${world.connection.id}`)).toEqual([
      [invoices.id, events.id],
      2,
    ]);
    expect(await ids('connection_id=conn_none')).toEqual([[], 0]);
    const wrong = await api.call('GET', '/v1/tasks/scheduled?interval=yearly');
    expect([wrong.status, wrong.body.message]).toEqual([400, expect.stringMatching(/interval/)]);
  });

  test('refuses tasks with the member and the remedy', async ({ api, world }) => {
    const { id } = world.connection;
    const task = { connection_id: id, entity_type: 'invoice', interval: 'hourly' };
    const config = { bucket: 'lake', region: 'eu' };
    const field = { entity_type: 'wallet', field_key: 'team' };
    await expectRefused(
      (body) => api.call('POST', '/v1/tasks/scheduled', { body }),
      [
        [{ ...task, interval: 'custom', job_config: config }, /interval.*reserved/],
        [{ ...task, job_config: { ...config, endpoint_url: 'nowhere' } }, /endpoint_url/],
        [{ ...task, job_config: { ...config, export_metadata_fields: [field] } }, /among those/],
      ],
    );
    const unknown = await api.call('POST', '/v1/tasks/scheduled', {
      body: { ...task, connection_id: 'conn_none', job_config: config },
    });
    expect(unknown.status).toBe(404);
  });
});

describe('an export', () => {
  test('writes each window once, in order, and makes up what was missed', async ({
    api,
    world,
  }) => {
    const scheduled = await world.schedule('invoice', {}, { key_prefix: 'out' });
    await makeWallet(api);
    const invoice = await invoiceOf(api, '150');
    await world.work('2026-03-01T11:14:00.000Z');
    expect(await world.tasks(scheduled)).toEqual([]);
    await world.work('2026-03-01T13:20:00.000Z');
    await world.work('2026-03-01T13:21:00.000Z');
    expect(await world.tasks(scheduled)).toMatchObject([
      {
        task_status: 'COMPLETED',
        record_count: 1,
        start_time: '2026-03-01T10:00:00.000Z',
        file_url: `s3://lake/out/invoice/invoice-${FIRST}.csv`,
      },
      { task_status: 'COMPLETED', record_count: 0 },
      { task_status: 'COMPLETED', record_count: 0 },
    ]);
    const [header, line, ...others] = world.lines(`out/invoice/invoice-${FIRST}.csv`);
    expect(others).toEqual([]);
    const cells = new Map(
      header?.split(',').map((name, index) => [name, line?.split(',')[index]] as const),
    );
    expect([cells.get('id'), cells.get('total'), cells.get('finalized_at')]).toEqual([
      invoice.id,
      '150.00',
      NOW,
    ]);
    expect(world.store.objects.get(`/lake/out/invoice/invoice-${FIRST}.csv`)).toMatchObject({
      contentType: 'text/csv',
      encryption: 'AES256',
    });
  });

  test('of credits has who got them and what they have now', async ({ api, world }) => {
    const wallet = await makeWallet(api);
    await topUp(api, wallet, { ...FREE, credits_to_add: '12.5', idempotency_key: '1' });
    await world.schedule('credit_topups', {}, { compression: 'gzip' });
    const fields = [{ entity_type: 'customer', field_key: 'team', column_name: 'Team' }];
    await world.schedule('credit_usage', {}, { export_metadata_fields: fields });
    const { items } = await api.make('/v1/customers/search', { external_ids: ['acme'] });
    const body = { metadata: { team: '=cmd' } };
    await api.call('PUT', `/v1/customers/${items[0].id}`, { body });
    await world.work('2026-03-01T11:20:00.000Z');
    const [, topUpLine] = world.lines(`credit_topups/credit_topups-${FIRST}.csv.gz`);
    expect(topUpLine).toContain(`acme,Acme,${wallet.id},12.5,0,12.5`);
    expect(world.lines(`credit_usage/credit_usage-${FIRST}.csv`)).toEqual([
      'name,customer_external_id,customer_id,current_balance,real_time_balance,number_of_wallets,Team',
      `Acme,acme,${items[0].id},12.5,12.5,1,'=cmd`,
    ]);
  });

  test('of events has a row for each meter that counts one, by their receipt', async ({
    api,
    database,
    clickhouse,
    world,
  }) => {
    const terms = { meter: { type: 'SUM', field: 'n' }, price: { amount: '1' } } as const;
    const plan = await makePricedPlan(api, { database, clickhouse }, terms);
    await plan.count([
      { at: '2026-03-01T10:10:00.000Z', properties: { n: '2.5' } },
      { at: '2026-03-01T10:20:00.000Z', eventName: 'other' },
      { at: '2026-03-01T11:00:00.000Z', properties: { n: '9' } },
    ]);
    await world.schedule('events');
    await world.work('2026-03-01T11:20:00.000Z');
    const [, ...lines] = world.lines(`events/events-${FIRST}.csv`);
    const { tenantId, environmentId } = api.environment;
    expect(lines.map((line) => line.slice(line.indexOf(',') + 1))).toEqual([
      `${tenantId},${environmentId},acme,,${plan.meterId},,call,,2026-03-01T10:10:00.000Z,2026-03-01T10:10:00.000Z,2.5,"{""n"":""2.5""}"`,
      `${tenantId},${environmentId},acme,,,,other,,2026-03-01T10:20:00.000Z,2026-03-01T10:20:00.000Z,,{}`,
    ]);
  });

  test('that fails three times is left with its reason, and made up later', async ({ world }) => {
    const scheduled = await world.schedule('invoice');
    world.store.refuseNext = 3;
    for (const minute of ['20', '30', '45']) await world.work(`2026-03-01T11:${minute}:00.000Z`);
    expect(await world.tasks(scheduled)).toMatchObject([
      { task_status: 'FAILED', error: expect.stringMatching(/refused/), file_url: null },
    ]);
    expect(world.store.objects.size).toBe(0);
    await world.work('2026-03-01T12:46:00.000Z');
    expect(await world.tasks(scheduled)).toMatchObject([
      { task_status: 'COMPLETED', error: null },
      { task_status: 'COMPLETED' },
    ]);
  });

  test('whose process is killed during the upload leaves no file, and is done again whole', async ({
    api,
    database,
    clickhouse,
    world,
  }) => {
    const scheduled = await world.schedule('invoice');
    await makeWallet(api);
    await invoiceOf(api, '150');
    const instant = '2026-03-01T11:20:00.000Z';
    await world.queue(instant);
    const engines = { databaseUrl: database.url, clickHouseUrl: clickhouse.url };
    const work = { ...engines, environment: api.environment, jobs: ['export-window'] };
    const allCounted = { turnedMs: 0, isAllCounted: true };
    const hanging = new Promise<void>((resolve) => {
      world.store.onHanging = resolve;
    });
    await workUntilKilled({ ...work, ...allCounted }, () => hanging);
    world.store.onHanging = null;
    expect(world.store.objects.size).toBe(0);
    expect(await world.tasks(scheduled)).toMatchObject([
      { task_status: 'PROCESSING', file_url: null },
    ]);
    // What the killed process held is free after a second.
    await vi.waitFor(
      async () => {
        await world.work(instant);
        expect(await world.tasks(scheduled)).toMatchObject([{ task_status: 'COMPLETED' }]);
      },
      { timeout: 20_000, interval: 200 },
    );
    const file = world.lines(`invoice/invoice-${FIRST}.csv`);
    expect(file).toHaveLength(2);
    const window = { start_time: '2026-03-01T10:00:00Z', end_time: '2026-03-01T11:00:00Z' };
    await api.call('POST', `/v1/tasks/scheduled/${scheduled.id}/run`, { body: window });
    await world.work(instant);
    expect(world.lines(`invoice/invoice-${FIRST}.csv`)).toEqual(file);
  });

  test('has a manifest with its counts, sums and checksum, and the anchor of the ledger beside it', async ({
    api,
    database,
    clickhouse,
    world,
  }) => {
    await world.schedule('invoice', {}, { compression: 'gzip' });
    await makeWallet(api);
    await invoiceOf(api, '150');
    const { environment } = api;
    const engines = { database: database.database, clickHouse: clickhouse.client, environment };
    const run = { job: 'anchor-ledgers', runId: 'run', environment, now: Date.parse(NOW) };
    const { signal } = new AbortController();
    await anchorLedger(billingNeeds(engines), { run: { ...run, signal }, environment });
    const anchored = world.manifest('ledger_anchor/ledger_anchor-260301100300-260301100300.csv');
    const { anchor } = (await api.call('GET', '/v1/ledger/verify')).body;
    expect(anchored).toMatchObject({
      format: 1,
      environment_id: environment.environmentId,
      ...anchor,
    });
    const list = world.store.objects.get(
      '/lake/ledger_anchor/ledger_anchor-260301100300-260301100300.csv',
    );
    expect(
      createHash('sha256')
        .update(list?.body ?? '')
        .digest('hex'),
    ).toBe(anchor.root);
    const lost = new AbortController();
    lost.abort(new Error('another process has taken the job over'));
    world.store.objects.clear();
    const late = anchorLedger(billingNeeds(engines), {
      run: { ...run, signal: lost.signal },
      environment,
    });
    await expect(late).rejects.toThrow(/taken the job over/);
    expect(world.store.objects.size).toBe(0);
    await invoiceOf(api, '20.5');
    await world.work('2026-03-01T11:20:00.000Z');
    const key = `invoice/invoice-${FIRST}.csv.gz`;
    const body = world.store.objects.get(`/lake/${key}`)?.body ?? Buffer.from('');
    expect(world.manifest(key)).toMatchObject({
      format: 1,
      entity_type: 'invoice',
      compression: 'gzip',
      file_url: `s3://lake/${key}`,
      start_time: '2026-03-01T10:00:00.000Z',
      end_time: '2026-03-01T11:00:00.000Z',
      bytes: body.length,
      sha256: createHash('sha256').update(body).digest('hex'),
      record_count: 2,
      late_count: 0,
      sums: { total: { usd: '170.5' }, amount_paid: { usd: '0' } },
    });
  });

  test('of invoices keeps what a window had, and tells in a later file what changed since', async ({
    api,
    world,
  }) => {
    const scheduled = await world.schedule('invoice');
    await makeWallet(api);
    const invoice = await invoiceOf(api, '150');
    await world.work('2026-03-01T11:20:00.000Z');
    const first = `invoice/invoice-${FIRST}.csv`;
    const before = [world.lines(first), world.manifest(first)];
    const paid = { amount: '150' };
    await api.call('PUT', `/v1/invoices/${invoice.id}/payment`, { body: paid });
    await world.work('2026-03-01T12:20:00.000Z');
    const second = 'invoice/invoice-260301110000-260301120000.csv';
    expect(world.manifest(second)).toMatchObject({ record_count: 1, late_count: 1 });
    expect(world.lines(second)[1]).toContain('SUCCEEDED');
    const window = { start_time: '2026-03-01T10:00:00Z', end_time: '2026-03-01T11:00:00Z' };
    await api.call('POST', `/v1/tasks/scheduled/${scheduled.id}/run`, { body: window });
    await world.work('2026-03-01T12:21:00.000Z');
    expect([world.lines(first), world.manifest(first)]).toEqual(before);
    expect(before[0]?.[1]).toContain('PENDING');
  });

  test('tells what was committed after its window, with an instant in it, in the next file', async ({
    api,
    world,
  }) => {
    const quarters = { interval: '15MIN' };
    const scheduled = await world.schedule('invoice', quarters);
    await world.schedule('credit_topups', quarters);
    await makeWallet(api);
    const planOf = async (amount: string) => {
      const plan = await api.make('/v1/plans', { name: `Plan of ${amount}` });
      const price = { entity_id: plan.id, amount, currency: 'usd', invoice_cadence: 'ADVANCE' };
      await api.make('/v1/prices', price);
      return plan.id as string;
    };
    const { id } = await api.make('/v1/subscriptions', {
      external_customer_id: 'acme',
      plan_id: await planOf('300'),
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: NOW,
    });
    // What is not paid would be lowered by the change, and told again.
    await payOpen(api);
    const change = (what: string, body: object) =>
      api.call('POST', `/v1/subscriptions/${id}/change/${what}`, { body });
    const wanted = {
      target_plan_id: await planOf('50'),
      billing_cadence: 'RECURRING',
      billing_cycle: 'anniversary',
      billing_period: 'MONTHLY',
      billing_period_count: 1,
      proration_behavior: 'create_prorations',
    };
    await world.at('2026-03-01T10:14:00.000Z');
    const { preview_token } = (await change('preview', wanted)).body;
    const files = (of: string) =>
      ['260301100000-260301101500', '260301101500-260301103000', '260301103000-260301104500'].map(
        (window) => `${of}/${of}-${window}.csv`,
      );
    const ids = (of: string) =>
      files(of).map((file) =>
        world
          .lines(file)
          .map((line) => line.split(',')[0])
          .slice(1),
      );
    await world.work('2026-03-01T10:20:00.000Z');
    await world.at('2026-03-01T10:26:00.000Z');
    const done = (await change('execute', { ...wanted, preview_token })).body;
    expect(done.effective_date).toBe('2026-03-01T10:14:00.000Z');
    await world.work('2026-03-01T10:35:00.000Z');
    await world.work('2026-03-01T10:50:00.000Z');
    const [of, others] = [files('invoice'), files('credit_topups')];
    expect(ids('invoice')).toEqual([[expect.any(String)], [done.invoice.id], []]);
    expect(ids('credit_topups')).toEqual([[], [expect.any(String)], []]);
    const counts = { record_count: 1, late_count: 1 };
    for (const file of [of[1], others[1]])
      expect(world.manifest(String(file))).toMatchObject(counts);
    const before = of.map((file) => [world.lines(file), world.manifest(file)]);
    for (const minute of ['00', '15']) {
      const end = minute === '00' ? '15' : '30';
      const window = {
        start_time: `2026-03-01T10:${minute}:00Z`,
        end_time: `2026-03-01T10:${end}:00Z`,
      };
      await api.call('POST', `/v1/tasks/scheduled/${scheduled.id}/run`, { body: window });
    }
    await world.work('2026-03-01T10:51:00.000Z');
    expect(of.map((file) => [world.lines(file), world.manifest(file)])).toEqual(before);
  });

  test('of events waits until all that were received in the window are counted', async ({
    api,
    database,
    clickhouse,
    world,
  }) => {
    const terms = { meter: { type: 'COUNT' }, price: { amount: '1' } } as const;
    const plan = await makePricedPlan(api, { database, clickhouse }, terms);
    const scheduled = await world.schedule('events');
    world.counted.until = Date.parse('2026-03-01T10:59:00.000Z');
    for (const minute of ['20', '30', '45']) await world.work(`2026-03-01T11:${minute}:00.000Z`);
    expect(await world.tasks(scheduled)).toMatchObject([
      { task_status: 'FAILED', error: expect.stringMatching(/still being counted/) },
    ]);
    await plan.count([
      { at: '2026-03-01T08:00:00.000Z', receivedAt: '2026-03-01T10:58:00.000Z' },
      { at: '2026-03-01T10:59:30.000Z' },
    ]);
    delete world.counted.until;
    await world.work('2026-03-01T12:46:00.000Z');
    const key = `events/events-${FIRST}.csv`;
    expect(world.manifest(key)).toMatchObject({ record_count: 2, late_count: 1 });
  });

  test('by hand writes the same file again, and nothing of a disabled task runs', async ({
    api,
    world,
  }) => {
    const scheduled = await world.schedule('invoice');
    const path = `/v1/tasks/scheduled/${scheduled.id}`;
    await world.work('2026-03-01T11:20:00.000Z');
    const before = world.lines(`invoice/invoice-${FIRST}.csv`);
    const begun = await api.call('POST', `${path}/run`, { body: {} });
    expect(begun).toMatchObject({
      status: 200,
      body: { mode: 'last_closed', start_time: '2026-03-01T10:00:00.000Z' },
    });
    await world.work('2026-03-01T11:21:00.000Z');
    expect((await api.call('GET', `/v1/tasks/${begun.body.workflow_id}`)).body).toMatchObject({
      task_status: 'COMPLETED',
    });
    expect(await world.tasks(scheduled)).toHaveLength(1);
    expect(world.lines(`invoice/invoice-${FIRST}.csv`)).toEqual(before);
    await api.call('PUT', path, { body: { enabled: false } });
    const refused = await api.call('POST', `${path}/run`, { body: {} });
    expect(refused.body.message).toMatch(/is disabled/);
    await world.work('2026-03-01T14:20:00.000Z');
    expect(await world.tasks(scheduled)).toHaveLength(1);
    await api.call('PUT', path, { body: { enabled: true } });
    await world.work('2026-03-01T14:21:00.000Z');
    expect(await world.tasks(scheduled)).toHaveLength(4);
    const start = { start_time: '2025-01-01T00:00:00Z' };
    await expectRefused(
      (body) => api.call('POST', `${path}/run`, { body }),
      [
        [start, /end_time.*both left out/],
        [{ ...start, end_time: '2024-01-01T00:00:00Z' }, /end_time.*later/],
        [{ ...start, end_time: '2027-01-01T00:00:00Z' }, /end_time.*future/],
        [{ ...start, end_time: '2026-01-02T00:00:00Z' }, /365 days/],
      ],
    );
  });
});

import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, describe, expect } from 'vitest';
import { obtainS3 } from '../../../load-tests/harness/s3/s3-server.js';
import { test as billedTest } from '../../testing/billed-test.js';
import { EXPORT_BUCKET, makeExportWorld, type ExportWorld } from '../../testing/export-world.js';
import type { Answer } from '../../testing/money-test.js';
import { invoiceOf, makeWallet } from '../../testing/wallet-calls.js';

const { server, skipReason } = await obtainS3();
afterAll(() => server?.stop());

const NOW = '2026-03-01T10:03:00.000Z';

const test = billedTest.extend<{ world: ExportWorld }>({
  world: async ({ api, database, clickhouse }, use) => {
    const url = server?.url ?? '';
    // Each test has the store to itself.
    await fetch(`${url}/moto-api/reset`, { method: 'POST' });
    const made = await fetch(`${url}/${EXPORT_BUCKET}`, { method: 'PUT' });
    expect(made.status).toBe(200);
    await use(await makeExportWorld(api, { database, clickhouse }, { url, now: NOW }));
  },
});

/** An object of the store, as its owner reads it. */
async function stored(url: string): Promise<Answer> {
  const client = new S3Client({
    region: 'eu-central-1',
    endpoint: server?.url ?? '',
    forcePathStyle: true,
    credentials: { accessKeyId: 'example', secretAccessKey: 'example secret' },
  });
  const [, , Bucket, ...names] = url.split('/');
  const answer = await client.send(new GetObjectCommand({ Bucket, Key: names.join('/') }));
  const text = (await answer.Body?.transformToString()) ?? '';
  // Only now: it would cut off a body that is still being read.
  client.destroy();
  return JSON.parse(text);
}

async function downloaded(call: (path: string) => Promise<Answer>, task: Answer) {
  const { download_url: url } = (await call(`/v1/tasks/${task.id}/download`)).body;
  const answer = await fetch(url);
  return { url: new URL(url), answer, body: Buffer.from(await answer.arrayBuffer()) };
}

describe.skipIf(server === null)(`an export to an S3-compatible server ${skipReason ?? ''}`, () => {
  test('is downloaded by a signed address, and equals the invoices row by row', async ({
    api,
    world,
  }) => {
    const scheduled = await world.schedule(
      'invoice',
      {},
      { compression: 'gzip', key_prefix: 'out' },
    );
    await makeWallet(api);
    for (const amount of ['150', '20.5', '7']) await invoiceOf(api, amount);
    await world.work('2026-03-01T11:20:00.000Z');
    const [task] = await world.tasks(scheduled);
    const { url, answer, body } = await downloaded((path) => api.call('GET', path), task);
    expect(answer.headers.get('content-type')).toBe('application/gzip');
    expect(answer.headers.get('x-amz-server-side-encryption')).toBe('AES256');
    expect(url.searchParams.get('X-Amz-Expires')).toBe('900');
    expect(url.href).not.toContain('example+secret');
    expect(createHash('sha256').update(body).digest('hex')).toBe(task.file_sha256);
    const [header = '', ...lines] = gunzipSync(body).toString().split('\r\n').slice(0, -1);
    const names = header.split(',');
    const { items } = await api.make('/v1/invoices/search', { limit: 100 });
    expect(lines).toHaveLength(items.length);
    for (const line of lines) {
      const cells = Object.fromEntries(line.split(',').map((cell, at) => [names[at], cell]));
      const invoice = items.find(({ id }: Answer) => id === cells['id']);
      for (const name of ['invoice_number', 'total', 'amount_due', 'currency', 'finalized_at']) {
        expect([name, cells[name]]).toEqual([name, invoice[name]]);
      }
    }
    expect(await stored(task.manifest_url)).toMatchObject({
      record_count: 3,
      sums: { total: { usd: '177.5' } },
    });
  });

  test('to a bucket that is not there is told, and made up when it is', async ({ api, world }) => {
    const scheduled = await world.schedule('invoice', {}, { bucket: 'missing' });
    for (const minute of ['20', '30', '45']) await world.work(`2026-03-01T11:${minute}:00.000Z`);
    const [failed] = await world.tasks(scheduled);
    expect(failed).toMatchObject({ task_status: 'FAILED', error: expect.stringMatching(/bucket/) });
    const refused = await api.call('GET', `/v1/tasks/${failed.id}/download`);
    expect([refused.status, refused.body.message]).toEqual([
      400,
      expect.stringMatching(/FAILED.*no file/),
    ]);
    await fetch(`${server?.url ?? ''}/missing`, { method: 'PUT' });
    await world.work('2026-03-01T12:46:00.000Z');
    const [done] = await world.tasks(scheduled);
    const { body } = await downloaded((path) => api.call('GET', path), done);
    expect(body.toString()).toMatch(/^id,tenant_id,/);
  });
});

import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, vi } from 'vitest';
import { z } from 'zod';
import { endsWithin, startAndAbandon } from '../load-tests/harness/abandoned-process.js';
import { test } from '../load-tests/harness/fixtures.js';
import { drawFreePort } from '../runtime/port.js';
import { createClickHouse } from './client.js';
import { startEmbeddedClickHouse } from './embedded.js';
import { migrateClickHouse } from './migrate.js';
import { READER } from './reader-user.js';

const TABLE = `CREATE TABLE kept (id UInt64) ENGINE = MergeTree ORDER BY id
  SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`;

async function makeTable(url: string): Promise<void> {
  await migrateClickHouse(url, null);
  const client = createClickHouse(url);
  await client.command(TABLE);
  await client.close();
}

async function idsOf(url: string): Promise<number[]> {
  const client = createClickHouse(url);
  const row = z.object({ id: z.coerce.number() });
  const rows = await client.query('SELECT id FROM kept ORDER BY id', {}, row);
  await client.close();
  return rows.map(({ id }) => id);
}

/** Inserts 1,000 rows at a time until the server goes away. */
async function insertUntilItEnds(url: string): Promise<{ certain: number[]; unknown: number[] }> {
  const client = createClickHouse(url);
  const certain: number[] = [];
  let next = 0;
  for (;;) {
    const ids = Array.from({ length: 1_000 }, (_, index) => next + index);
    next += ids.length;
    const body = ids.map((id) => `[${id}]`).join('\n');
    const query = 'INSERT INTO kept FORMAT JSONCompactEachRow';
    try {
      await client.insertText({ query, body, queryId: `ids-${next}` });
      certain.push(...ids);
    } catch {
      await client.close();
      return { certain, unknown: ids };
    }
  }
}

function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

describe('embedded ClickHouse', () => {
  test('keeps its data over a restart, on another port', async ({ directory }) => {
    const first = await startEmbeddedClickHouse({ directory, port: 0 });
    await makeTable(first.url);
    const client = createClickHouse(first.url);
    await client.command('INSERT INTO kept VALUES (1)');
    await client.close();
    await first.stop();
    await first.stop();
    const second = await startEmbeddedClickHouse({ directory, port: 0 });
    expect(await idsOf(second.url)).toEqual([1]);
    await second.stop();
    await second.exited;
  });

  test.for(['stopped', 'killed'] as const)(
    'when %s under inserts, keeps each acknowledged one and no half of any',
    async (way, { directory }) => {
      const first = await startEmbeddedClickHouse({ directory, port: 0 });
      await makeTable(first.url);
      const inserting = insertUntilItEnds(first.url);
      await delay(500);
      if (way === 'killed') process.kill(first.pid, 'SIGKILL');
      else await first.stop();
      const { certain, unknown } = await inserting;
      await first.exited;
      const second = await startEmbeddedClickHouse({ directory, port: 0 });
      const ids = await idsOf(second.url);
      await second.stop();
      expect(certain.length).toBeGreaterThan(0);
      // The last insert was answered by nobody: it is there as a whole or not at all.
      const expected = ids.length > certain.length ? [...certain, ...unknown] : certain;
      expect(ids).toEqual(expected);
    },
  );

  test('ends with the program that started it, even by SIGKILL', async ({ directory }) => {
    const program = { module: 'clickhouse/embedded', start: 'startEmbeddedClickHouse', directory };
    const pid = await startAndAbandon(program);
    expect(await endsWithin(pid, 10_000)).toBe(true);
    const next = await startEmbeddedClickHouse({ directory, port: 0 });
    await next.stop();
  });

  test('starts while its abandoned predecessor is still ending', async ({ directory }) => {
    const program = { module: 'clickhouse/embedded', start: 'startEmbeddedClickHouse', directory };
    await startAndAbandon(program);
    const next = await startEmbeddedClickHouse({ directory, port: 0 });
    await next.stop();
  });

  test('names the port that another program has', async ({ directory }) => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    await expect(startEmbeddedClickHouse({ directory, port })).rejects.toThrow(
      `port ${port} on 127.0.0.1 is taken`,
    );
    other.close();
  });

  test('leaves no server behind when its start fails at the end, as on a full disk', async ({
    directory,
  }) => {
    const port = await drawFreePort();
    // The file with the owner's process id cannot be written where a folder is.
    await mkdir(join(directory, 'owner.pid'));
    await expect(startEmbeddedClickHouse({ directory, port })).rejects.toThrow('EISDIR');
    await rm(join(directory, 'owner.pid'), { recursive: true });
    const next = await startEmbeddedClickHouse({ directory, port });
    await next.stop();
  });

  test('names the directory that another instance has, and leaves that one alone', async ({
    directory,
  }) => {
    const first = await startEmbeddedClickHouse({ directory, port: 0 });
    await makeTable(first.url);
    await expect(startEmbeddedClickHouse({ directory, port: 0 })).rejects.toThrow(
      `${directory} is in use by another running instance`,
    );
    expect(await idsOf(first.url)).toEqual([]);
    await first.stop();
  });

  test('asks for a password and keeps it to its owner', async ({ directory }) => {
    const server = await startEmbeddedClickHouse({ directory, port: 0 });
    await makeTable(server.url);
    const nobody = new URL(server.url);
    nobody.username = '';
    nobody.password = '';
    await expect(idsOf(nobody.href)).rejects.toMatchObject({ isRetryable: false });
    const wrong = new URL(server.url);
    wrong.password = 'wrong';
    await expect(idsOf(wrong.href)).rejects.toMatchObject({ isRetryable: false });
    const modes = await Promise.all(
      ['password', 'users.xml', 'server-order.json'].map(
        async (file) => (await stat(join(directory, file))).mode & 0o777,
      ),
    );
    expect(modes).toEqual([0o600, 0o600, 0o600]);
    await server.stop();
  });

  test('takes no statement without a password from anybody on the machine, not even one that stops it', async ({
    directory,
  }) => {
    const server = await startEmbeddedClickHouse({ directory, port: 0 });
    const { origin } = new URL(server.url);
    const callers = [
      {},
      { 'x-clickhouse-user': 'default' },
      { 'x-clickhouse-user': 'minutebook' },
      ...['default', 'minutebook', READER].map((user) => ({ authorization: basic(user, '') })),
    ];
    const statements = [
      'SELECT 1',
      'SYSTEM STOP LISTEN HTTP',
      'SELECT count() FROM system.numbers',
    ];
    for (const headers of callers) {
      for (const body of statements) {
        for (const path of ['/', '/?user=default', '/?user=default&max_sessions_for_user=9']) {
          const answer = await fetch(`${origin}${path}`, { method: 'POST', headers, body });
          const text = await answer.text();
          expect([headers, path, body, answer.ok]).toEqual([headers, path, body, false]);
          expect(text).toMatch(/Authentication failed|overflown session count|Invalid auth/);
        }
      }
    }
    await makeTable(server.url);
    await server.stop();
  });

  test('says whether it answers: not when it has stopped listening', async ({ directory }) => {
    const server = await startEmbeddedClickHouse({ directory, port: 0 });
    expect(await server.isAnswering()).toBe(true);
    await makeTable(server.url);
    const client = createClickHouse(server.url);
    await client.command('SYSTEM STOP LISTEN HTTP');
    await client.close();
    await vi.waitFor(async () => expect(await server.isAnswering()).toBe(false));
    process.kill(server.pid, 'SIGKILL');
    await server.exited;
  });

  test('asks for a password also where a full disk left the file of it empty', async ({
    directory,
  }) => {
    for (const name of ['password', 'reader-password']) await writeFile(join(directory, name), '');
    const server = await startEmbeddedClickHouse({ directory, port: 0 });
    const { origin } = new URL(server.url);
    for (const user of ['minutebook', READER]) {
      const headers = { authorization: basic(user, '') };
      const answer = await fetch(origin, { method: 'POST', headers, body: 'SELECT 1' });
      expect([user, answer.status]).toEqual([user, 403]);
    }
    await makeTable(server.url);
    await server.stop();
  });

  test('bounds its memory', async ({ directory }) => {
    const server = await startEmbeddedClickHouse({ directory, port: 0 });
    await makeTable(server.url);
    const client = createClickHouse(server.url);
    const row = z.object({ value: z.coerce.number() });
    const setting = `SELECT value FROM system.server_settings WHERE name = 'max_server_memory_usage'`;
    const [limit] = await client.query(setting, {}, row);
    expect(limit?.value).toBeGreaterThanOrEqual(1_000_000_000);
    expect(limit?.value).toBeLessThanOrEqual(4_000_000_000);
    await client.close();
    await server.stop();
  });
});

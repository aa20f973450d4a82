import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import {
  endsWithin,
  leaveUnreaped,
  startAndAbandon,
} from '../load-tests/harness/abandoned-process.js';
import { test } from '../load-tests/harness/fixtures.js';
import { startEmbeddedPostgres } from './embedded.js';
import { findRunningPostgres } from './running-embedded.js';
import { withSession } from './session.js';

async function write(url: string, text: string): Promise<void> {
  await withSession(url, async (session) => {
    await session.query('CREATE TABLE IF NOT EXISTS kept (text text)');
    await session.query('INSERT INTO kept VALUES ($1)', [text]);
  });
}

function read(url: string, query: string): Promise<unknown[]> {
  return withSession(url, async (session) => {
    const result = await session.query({ text: query, rowMode: 'array' });
    return result.rows.flat();
  });
}

describe('embedded PostgreSQL', () => {
  test('keeps its data when it is restarted on another port', async ({ directory }) => {
    const first = await startEmbeddedPostgres({ directory, port: 0 });
    await write(first.url, 'before');
    await first.stop();
    await first.stop();
    expect(await findRunningPostgres(directory)).toBeNull();
    const second = await startEmbeddedPostgres({ directory, port: 0 });
    expect(await read(second.url, 'SELECT text FROM kept')).toEqual(['before']);
    expect(await findRunningPostgres(directory)).toBe(second.url);
    await second.stop();
    await second.exited;
  });

  test('starts again after its server was killed, with all committed data', async ({
    directory,
  }) => {
    const first = await startEmbeddedPostgres({ directory, port: 0 });
    await write(first.url, 'before the kill');
    process.kill(first.pid, 'SIGKILL');
    await first.exited;
    const second = await startEmbeddedPostgres({ directory, port: 0 });
    expect(await read(second.url, 'SELECT text FROM kept')).toEqual(['before the kill']);
    await second.stop();
  });

  test('starts despite a lock file that names a foreign process', async ({ directory }) => {
    const first = await startEmbeddedPostgres({ directory, port: 0 });
    await first.stop();
    await writeFile(join(directory, 'data', 'postmaster.pid'), `${process.pid}\n`);
    const second = await startEmbeddedPostgres({ directory, port: 0 });
    await second.stop();
  });

  test('ends with the program that started it, even by SIGKILL', async ({ directory }) => {
    const program = { module: 'sql/embedded', start: 'startEmbeddedPostgres', directory };
    const pid = await startAndAbandon(program);
    expect(await endsWithin(pid, 10_000)).toBe(true);
    const next = await startEmbeddedPostgres({ directory, port: 0 });
    await next.stop();
  });

  test('waits for a server that ends, though the program that started it is not reaped', async ({
    directory,
  }) => {
    const owner = await leaveUnreaped();
    const first = await startEmbeddedPostgres({ directory, port: 0 });
    await writeFile(join(directory, 'owner.pid'), `${owner.pid}\n`);
    const next = startEmbeddedPostgres({ directory, port: 0 });
    const stopped = delay(300).then(() => first.stop());
    await (await next.finally(() => stopped)).stop();
    await owner.reap();
  });

  test('names the port that another program uses', async ({ directory }) => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    await expect(startEmbeddedPostgres({ directory, port })).rejects.toThrow(
      `port ${port} on 127.0.0.1 is taken`,
    );
    other.close();
  });

  test(
    'names the directory that another instance has',
    { timeout: 30_000 },
    async ({ directory }) => {
      const first = await startEmbeddedPostgres({ directory, port: 0 });
      await expect(startEmbeddedPostgres({ directory, port: 0 })).rejects.toThrow(
        `${directory} is in use by another running instance (process ${first.pid})`,
      );
      expect(await read(first.url, 'SELECT 1')).toEqual([1]);
      await first.stop();
    },
  );

  test(
    'starts once when two start together on an empty directory',
    { timeout: 60_000 },
    async ({ directory }) => {
      const starts = await Promise.allSettled([
        startEmbeddedPostgres({ directory, port: 0 }),
        startEmbeddedPostgres({ directory, port: 0 }),
      ]);
      const started = starts.flatMap((start) =>
        start.status === 'fulfilled' ? [start.value] : [],
      );
      expect(started).toHaveLength(1);
      await Promise.all(started.map((server) => server.stop()));
    },
  );

  test('requires a password that only its owner can read', async ({ directory }) => {
    const server = await startEmbeddedPostgres({ directory, port: 0 });
    const wrong = new URL(server.url);
    wrong.password = 'wrong';
    await expect(read(wrong.href, 'SELECT 1')).rejects.toMatchObject({ isRetryable: false });
    const mode = (await stat(join(directory, 'password'))).mode & 0o777;
    expect(mode).toBe(0o600);
    expect(await readFile(join(directory, 'postgres.log'), 'utf8')).not.toContain(
      new URL(server.url).password,
    );
    await server.stop();
  });

  test('makes another password for an empty one, but never for that of a database that is there', async ({
    directory,
  }) => {
    const file = join(directory, 'password');
    await writeFile(file, '');
    const first = await startEmbeddedPostgres({ directory, port: 0 });
    expect(new URL(first.url).password).toMatch(/^[0-9a-f]{48}$/);
    await first.stop();
    await writeFile(file, '');
    await expect(startEmbeddedPostgres({ directory, port: 0 })).rejects.toThrow(
      `${file} is empty: the database was made with the password that it held`,
    );
    await rm(file);
    await expect(startEmbeddedPostgres({ directory, port: 0 })).rejects.toThrow(
      `${file} is missing: the database was made with the password that it held`,
    );
  });

  test('is durable, in UTC, UTF-8 and the C locale', async ({ directory }) => {
    const server = await startEmbeddedPostgres({ directory, port: 0 });
    const settings = `SELECT current_setting(name) FROM unnest(ARRAY['fsync', 'synchronous_commit',
      'full_page_writes', 'timezone', 'server_encoding', 'max_connections'])
      AS name`;
    expect(await read(server.url, settings)).toEqual(['on', 'on', 'on', 'UTC', 'UTF8', '200']);
    const locale = 'SELECT datcollate FROM pg_database WHERE datname = current_database()';
    expect(await read(server.url, locale)).toEqual(['C']);
    await server.stop();
  });
});

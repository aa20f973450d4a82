import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sql } from 'slonik';
import { z } from 'zod';
import { closeOwner, ownerOf } from '../../load-tests/harness/owner.js';
import { assertPresent, codeOf } from '../../runtime/failure.js';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../sql/embedded.js';
import { migrateDatabase } from '../../sql/migrate.js';
import { createDatabase } from '../../sql/pool.js';
import { withSession } from '../../sql/session.js';
import { createCheckpointStore } from './checkpoint-store.js';

const MEMBER = { log: 'log', memberId: 'member' };
const INTENT = { end: 3, catalogVersion: 1, foldVersion: 1, digest: 'digest' };

/** The weakest setting, and no background writer that flushes the server's log early by chance. */
async function commitAsynchronously(url: string): Promise<void> {
  await withSession(url, async (session) => {
    await session.query('ALTER SYSTEM SET synchronous_commit = off');
    await session.query(`ALTER SYSTEM SET wal_writer_delay = '10s'`);
    await session.query('SELECT pg_reload_conf()');
  });
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // It has ended already, such as the session that listed the processes.
    if (codeOf(error) !== 'ESRCH') throw error;
  }
}

/** Ends the server and its sessions, which live a moment longer and could still commit. */
async function crash(server: EmbeddedPostgres): Promise<void> {
  const pids = [server.pid];
  await withSession(server.url, async (session) => {
    const found = await session.query<{ pid: number }>('SELECT pid FROM pg_stat_activity');
    pids.push(...found.rows.map(({ pid }) => pid));
  });
  for (const pid of pids) kill(pid);
  await server.exited;
}

test('an intent survives a crash of a server that defaults to asynchronous commits', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'minutebook-test-'));
  let server = await startEmbeddedPostgres({ directory, port: 0 });
  await migrateDatabase(server.url);
  await commitAsynchronously(server.url);
  const before = await createDatabase(server.url, { poolSize: 2 });
  const store = createCheckpointStore(before, MEMBER);
  await store.ensure([0]);
  await ownerOf(before).query(
    sql.type(z.unknown())`UPDATE aggregator_checkpoints SET owner = ${MEMBER.memberId}`,
  );
  const { epoch } = assertPresent(await store.take(0, 0), 'the row of the owner');
  const batch = { partition: 0, epoch, start: 0, intent: INTENT, isReplacement: false };
  expect(await store.intend([batch])).toEqual(new Set([0]));
  await crash(server);
  await Promise.all([before.close(), closeOwner(server.url)].map((end) => end.catch(() => null)));
  const port = Number(new URL(server.url).port);
  server = await startEmbeddedPostgres({ directory, port });
  const after = await createDatabase(server.url, { poolSize: 2 });
  // Without the intent there may be no row at all.
  await expect(createCheckpointStore(after, MEMBER).read(0)).resolves.toMatchObject({
    epoch,
    intent: INTENT,
  });
  await after.close();
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { test } from '../load-tests/harness/fixtures.js';
import { instantColumn } from './columns.js';
import type { Database } from './pool.js';
import { withSession } from './session.js';

const NOON = Date.UTC(2026, 0, 27, 12);

const instantRow = z.object({ instant: instantColumn.nullable() });

const report = (
  { slonik }: Database,
  process: string,
  { sinceMs = NOON, log = 'log', silentSeconds = 60 } = {},
) =>
  slonik.query(sql.type(z.unknown())`
    SELECT report_ingest_process(${process}, ${log}, to_timestamp(${sinceMs / 1_000}),
      make_interval(secs => ${silentSeconds}))`);

async function heldSince({ slonik }: Database): Promise<number | null> {
  const row = await slonik.one(sql.type(instantRow)`SELECT find_held_since('log') AS instant`);
  return row.instant;
}

async function countedEvents({ slonik }: Database): Promise<number | null> {
  const row = await slonik.one(sql.type(instantRow)`SELECT find_counted_events() AS instant`);
  return row.instant;
}

const note = ({ slonik }: Database, beforeMs: number) =>
  slonik.query(sql.type(z.unknown())`
    SELECT note_counted_events(to_timestamp(${beforeMs / 1_000}))`);

describe('since when events may be held', () => {
  test('is known from the reports of all processes: the earliest; none of them goes back', async ({
    database: { database },
  }) => {
    expect(await heldSince(database)).toBeNull();
    await report(database, 'first');
    await report(database, 'second', { sinceMs: NOON + 500 });
    expect(await heldSince(database)).toBe(NOON);
    await report(database, 'first', { sinceMs: NOON + 900 });
    expect(await heldSince(database)).toBe(NOON + 500);
    await report(database, 'second', { sinceMs: NOON });
    expect(await heldSince(database)).toBe(NOON + 500);
  });

  test('does not count a process that was silent for too long, until it reports again', async ({
    database: { url, database },
  }) => {
    await report(database, 'killed');
    await report(database, 'alive', { sinceMs: NOON + 500 });
    const age = (by: string): Promise<unknown> =>
      withSession(url, (session) =>
        session.query(
          `UPDATE ingest_processes SET reported_at = reported_at - interval '${by}' WHERE id = 'killed'`,
        ),
      );
    await age('59 s');
    expect(await heldSince(database)).toBe(NOON);
    await age('2 s');
    expect(await heldSince(database)).toBe(NOON + 500);
    await report(database, 'killed');
    expect(await heldSince(database)).toBe(NOON);
    // It is removed a day later, when another process begins.
    await age('2 days');
    await report(database, 'new', { sinceMs: NOON + 700 });
    const { rows } = await withSession(url, (session) =>
      session.query('SELECT id FROM ingest_processes ORDER BY id'),
    );
    expect(rows).toEqual([{ id: 'alive' }, { id: 'new' }]);
  });

  test('is not known while a process of another log accepts events', async ({
    database: { database },
  }) => {
    await report(database, 'first');
    await report(database, 'other', { log: 'other', silentSeconds: 1 });
    expect(await heldSince(database)).toBeNull();
    await expect.poll(() => heldSince(database), { timeout: 10_000 }).toBe(NOON);
  });

  test('is not known while a program of a release that does not report may accept events', async ({
    database: { url, database },
  }) => {
    await report(database, 'first');
    const hash = `sha256('x')`;
    const run = (statement: string): Promise<unknown> =>
      withSession(url, (session) => session.query(statement));
    // A program of this release looks keys up by another function.
    await run(`SELECT * FROM find_key_caller(${hash})`);
    expect(await heldSince(database)).toBe(NOON);
    // On a node that only reads nothing is noted, and keys are found.
    await run(`BEGIN READ ONLY; SELECT * FROM find_api_key(${hash}); COMMIT`);
    expect(await heldSince(database)).toBe(NOON);
    await run(`SELECT * FROM find_api_key(${hash})`);
    expect(await heldSince(database)).toBeNull();
    const age = (by: string): Promise<unknown> =>
      run(`UPDATE unregistered_programs SET seen_at = seen_at - interval '${by}'`);
    await age('14 minutes');
    expect(await heldSince(database)).toBeNull();
    await age('2 minutes');
    expect(await heldSince(database)).toBe(NOON);
    await run(`SELECT * FROM find_api_key(${hash})`);
    expect(await heldSince(database)).toBeNull();
  });
});

test('up to when events are counted only rises, and is never later than now', async ({
  database: { database },
}) => {
  expect(await countedEvents(database)).toBeNull();
  await note(database, NOON - 86_400_000);
  await note(database, NOON - 86_400_500);
  expect(await countedEvents(database)).toBe(NOON - 86_400_000);
  const before = Date.now();
  await note(database, Date.now() + 3_600_000);
  const counted = Number(await countedEvents(database));
  expect(counted).toBeGreaterThanOrEqual(before - 1_000);
  expect(counted).toBeLessThanOrEqual(Date.now());
});

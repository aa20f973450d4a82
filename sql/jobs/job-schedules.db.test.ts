import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { test as base } from '../../load-tests/harness/fixtures.js';
import { MINUTE_MS } from '../../contract/instant.js';
import { createId } from '../../runtime/ids.js';
import { noRows } from '../columns.js';
import { ALPHA, BETA, createJobWorld, note, type JobWorld } from '../testing/job-world.js';
import { enqueue } from './enqueue.js';
import { defineJob } from './job.js';

const NOW = Date.parse('2026-11-20T10:00:00.000Z');
const SECOND_MS = 1_000;
const { signal: GOES_ON } = new AbortController();

const test = base.extend<{ readonly world: JobWorld }>({
  world: async ({ database }, use) => use(await createJobWorld(database.database)),
});

/** Writes its text, in its own transaction. */
const write = defineJob({
  name: 'write',
  input: z.object({ text: z.string() }),
  key: ({ text }) => text,
  inTransaction: async (tx, { input, run }) => {
    await note(tx, run, input.text);
    return {};
  },
});

/** A scheduled job that notes the instants of its runs, and counts them in what it keeps. */
const counting = (name: string, everyMs: number) =>
  defineJob({
    name,
    input: z.object({}),
    schedule: { everyMs },
    state: z.number(),
    inTransaction: async (tx, { state, run }) => {
      const count = (state ?? 0) + 1;
      await note(tx, run, `${name} ${count}`);
      return { state: count };
    },
  });

describe('a job with a schedule', () => {
  test('runs once for all processes, and makes up once for what was missed', async ({ world }) => {
    const job = counting('minutely', MINUTE_MS);
    const runners = [world.runnerOf([job], {}), world.runnerOf([job], {})];
    for (const at of [NOW, NOW + 1]) await world.declare([job], at);
    for (const at of [NOW, NOW, NOW + 59_999, NOW + MINUTE_MS, NOW + 10 * MINUTE_MS + 5]) {
      for (const runner of runners) await runner.runNext(at, GOES_ON);
    }
    expect((await world.effects()).map(({ at, text }) => [(at - NOW) / 1_000, text])).toEqual([
      [0, 'minutely 1'],
      [60, 'minutely 2'],
      [600.005, 'minutely 3'],
    ]);
    expect(await world.items()).toMatchObject([{ run_at: NOW + 11 * MINUTE_MS }]);
  });

  test('that fails is tried again after a pause, or when it is due again, and is never parked', async ({
    world,
  }) => {
    let failures = 0;
    const failing = defineJob({
      name: 'failing',
      input: z.object({}),
      schedule: { everyMs: MINUTE_MS },
      retry: { tries: 1, firstPauseMs: 20 * SECOND_MS },
      inTransaction: () => {
        failures += 1;
        return Promise.reject(new Error(`failure ${failures}`));
      },
    });
    await world.declare([failing], NOW);
    const runner = world.runnerOf([failing], {});
    const instants = [];
    for (let now = NOW; failures < 4;) {
      await runner.runNext(now, GOES_ON);
      instants.push((now - NOW) / 1_000);
      now = (await world.items())[0]?.run_at ?? 0;
    }
    expect(instants).toEqual([0, 20, 60, 120]);
    expect(await world.items()).toMatchObject([
      { status: 'waiting', attempts: 4, error: 'failure 4' },
    ]);
  });

  test('is due as its new schedule says, from the first process on that has it', async ({
    world,
  }) => {
    const [before, after] = [counting('changed', 60 * MINUTE_MS), counting('changed', MINUTE_MS)];
    await world.declare([before], NOW);
    await world.runnerOf([before], {}).runNext(NOW, GOES_ON);
    await world.declare([after], NOW + 30 * SECOND_MS);
    expect(await world.items()).toMatchObject([{ run_at: NOW + 30 * SECOND_MS }]);
  });

  test('that has more to do is due again at once, and lets others go first', async ({ world }) => {
    let left = 3;
    const batches = defineJob({
      name: 'batches',
      input: z.object({}),
      schedule: { everyMs: MINUTE_MS },
      inTransaction: async (tx, { run }) => {
        left -= 1;
        await note(tx, run, 'batch');
        return { hasMore: left > 0 };
      },
    });
    await world.declare([batches], NOW);
    await world.enqueue(write, { text: 'other' }, { now: NOW });
    const runner = world.runnerOf([batches, write], {});
    while (await runner.runNext(NOW, GOES_ON));
    const texts = (await world.effects()).map(({ text }) => text);
    expect(texts).toEqual(['batch', 'other', 'batch', 'batch']);
  });
});

describe('a clock that is turned by hand', () => {
  test('runs what is due in the order of its instants, each as of its own', async ({ world }) => {
    const ten = counting('every-ten', 10 * MINUTE_MS);
    const fifteen = counting('every-fifteen', 15 * MINUTE_MS);
    let failures = 0;
    const follow = defineJob({
      name: 'follow',
      input: z.object({ text: z.string() }),
      retry: { firstPauseMs: MINUTE_MS },
      inTransaction: async (tx, { input, run }) => {
        if (input.text === 'first' && failures === 0) {
          failures += 1;
          throw new Error('once');
        }
        await note(tx, run, input.text);
        if (input.text === 'second') return {};
        const unit = { tx, environment: ALPHA, now: run.now, newId: createId };
        const dueAt = run.now + 16 * MINUTE_MS;
        await enqueue(unit, follow, { input: { text: 'second' }, dueAt });
        return {};
      },
    });
    await world.declare([ten, fifteen], NOW + MINUTE_MS);
    await world.enqueue(follow, { text: 'first' }, { now: NOW, dueAt: NOW + 2 * MINUTE_MS });
    await world.enqueue(write, { text: 'too late' }, { now: NOW, dueAt: NOW + 31 * MINUTE_MS });
    await world.runnerOf([ten, fifteen, follow, write], {}).runDue(NOW + 30 * MINUTE_MS);
    const told = (await world.effects()).map(({ at, text }) => [(at - NOW) / MINUTE_MS, text]);
    expect(told.slice(0, 2).sort()).toEqual([
      [1, 'every-fifteen 1'],
      [1, 'every-ten 1'],
    ]);
    expect(told.slice(2, 7)).toEqual([
      [3, 'first'],
      [10, 'every-ten 2'],
      [15, 'every-fifteen 2'],
      [19, 'second'],
      [20, 'every-ten 3'],
    ]);
    expect(told.slice(7).sort()).toEqual([
      [30, 'every-fifteen 3'],
      [30, 'every-ten 4'],
    ]);
  });

  test('that an environment has decides in it alone what is due, and as of when', async ({
    world,
  }) => {
    await world.owner.query(sql.type(noRows)`
      INSERT INTO test_clocks (tenant_id, environment_id, now)
      VALUES (${ALPHA.tenantId}, ${ALPHA.environmentId}, '2027-01-01T00:00:00Z')`);
    const shown = Date.parse('2027-01-01T00:00:00.000Z');
    for (const dueAt of [shown, shown + 1]) {
      await world.enqueue(write, { text: `alpha ${dueAt}` }, { now: NOW, dueAt });
    }
    const at = { environment: BETA, now: NOW, dueAt: shown };
    await world.enqueue(write, { text: 'beta' }, at);
    const runner = world.runnerOf([write], {});
    while (await runner.runNext(NOW, GOES_ON));
    expect(await world.effects()).toEqual([{ job: 'write', text: `alpha ${shown}`, at: shown }]);
  });
});

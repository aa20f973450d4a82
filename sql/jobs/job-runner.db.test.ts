import { setTimeout as delay } from 'node:timers/promises';
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

describe('a job that is queued', () => {
  test('is done when its change is committed, and never when it is rolled back', async ({
    database,
    world,
  }) => {
    const change = (text: string, fails: boolean) =>
      database.database.asEnvironment(ALPHA, async (tx) => {
        const unit = { tx, environment: ALPHA, now: NOW, newId: createId };
        await enqueue(unit, write, { input: { text } });
        if (fails) throw new Error('refused');
      });
    await expect(change('never', true)).rejects.toThrow('refused');
    await change('once', false);
    expect(await world.runnerOf([write], {}).runDue(NOW)).toBe(1);
    expect(await world.effects()).toEqual([{ job: 'write', text: 'once', at: NOW }]);
    expect(await world.items()).toEqual([]);
  });

  test('waits until it is due', async ({ world }) => {
    const runner = world.runnerOf([write], {});
    await world.enqueue(write, { text: 'later' }, { now: NOW, dueAt: NOW + 1 });
    expect(await runner.runNext(NOW, GOES_ON)).toBe(false);
    expect(await runner.runNext(NOW + 1, GOES_ON)).toBe(true);
  });

  test('sees and writes its own environment only', async ({ world }) => {
    const look = defineJob({
      name: 'look',
      input: z.object({}),
      inTransaction: async (tx, { run }) => {
        const seen = await tx.anyFirst(sql.type(z.object({ id: z.string() }))`
          SELECT DISTINCT environment_id AS id FROM jobs`);
        await note(tx, run, seen.join());
        return {};
      },
    });
    for (const environment of [ALPHA, BETA]) {
      await world.enqueue(look, {}, { environment, now: NOW });
      await world.enqueue(write, { text: 'waits' }, { environment, now: NOW });
    }
    await world.runnerOf([look], {}).runDue(NOW);
    const effects = await world.effects();
    expect(effects.map(({ text }) => text)).toEqual(['env_alpha', 'env_beta']);
  });

  test('of which one waits is not queued again where it says so, and is once that one has begun', async ({
    world,
  }) => {
    const once = defineJob({
      name: 'once',
      input: z.object({ of: z.string(), text: z.string() }),
      key: ({ of }) => of,
      onceWhileWaiting: true,
      inTransaction: async (tx, { input, run }) => {
        await note(tx, run, input.text);
        // Queued while it runs: what it has read already may have changed.
        if (input.text === 'first')
          await world.enqueue(once, { of: 'a', text: 'third' }, { now: NOW });
        return {};
      },
    });
    await world.enqueue(once, { of: 'a', text: 'first' }, { now: NOW });
    await world.enqueue(once, { of: 'a', text: 'second' }, { now: NOW });
    await world.enqueue(once, { of: 'b', text: 'other' }, { now: NOW });
    expect(await world.items()).toHaveLength(2);
    await world.runnerOf([once], {}).runDue(NOW);
    const texts = (await world.effects()).map(({ text }) => text);
    expect(texts.sort()).toEqual(['first', 'other', 'third']);
  });

  test('that another change counts on begins after that change', async ({ database, world }) => {
    const once = defineJob({
      name: 'once',
      input: z.object({}),
      onceWhileWaiting: true,
      inTransaction: async (tx, { run }) => {
        await note(tx, run, 'ran');
        return {};
      },
    });
    const runner = world.runnerOf([once], {});
    await world.enqueue(once, {}, { now: NOW });
    await database.database.asEnvironment(ALPHA, async (tx) => {
      const unit = { tx, environment: ALPHA, now: NOW, newId: createId };
      await enqueue(unit, once, { input: {} });
      expect(await runner.runDue(NOW)).toBe(0);
    });
    expect(await runner.runDue(NOW)).toBe(1);
    expect(await world.items()).toEqual([]);
  });
});

describe('workers beside each other', () => {
  test('do each item once, and one of a key at a time', async ({ database, world }) => {
    const running = new Map<string, number>();
    let runningMost = 0;
    const input = z.object({ key: z.string(), text: z.string() });
    const busy = async (key: string): Promise<void> => {
      const count = (running.get(key) ?? 0) + 1;
      running.set(key, count);
      runningMost = Math.max(runningMost, count);
      await delay(5);
      running.set(key, count - 1);
    };
    const keyed = { input, key: ({ key }: z.output<typeof input>) => key };
    const inside = defineJob({
      name: 'inside',
      ...keyed,
      inTransaction: async (tx, { input: { key, text }, run }) => {
        await busy(`inside ${key}`);
        await note(tx, run, text);
        return {};
      },
    });
    const beside = defineJob({
      name: 'beside',
      ...keyed,
      withLease: async ({ input: { key, text }, run }) => {
        await busy(`beside ${key}`);
        await note(database.database.slonik, run, text);
        return {};
      },
    });
    for (let n = 0; n < 30; n += 1) {
      for (const job of [inside, beside]) {
        await world.enqueue(job, { key: n < 24 ? 'k' : 'other', text: `${n}` }, { now: NOW });
      }
    }
    const worker = async (): Promise<void> => {
      const runner = world.runnerOf([inside, beside], {});
      while ((await world.items()).length > 0) await runner.runNext(NOW, GOES_ON);
    };
    await Promise.all([worker(), worker(), worker()]);
    const effects = (await world.effects()).map(({ job, text }) => `${job} ${text}`);
    expect(effects).toHaveLength(60);
    expect(new Set(effects).size).toBe(60);
    expect(runningMost).toBe(1);
  });

  test("take turns, so that one environment's thousand items hold up nobody else's one", async ({
    world,
  }) => {
    await world.owner.query(sql.type(noRows)`
      INSERT INTO jobs (id, name, tenant_id, environment_id, turn, key, input, due_at, run_at,
        created_at)
      SELECT 'job_' || n, 'write', ${ALPHA.tenantId}, ${ALPHA.environmentId}, 'tenant_jobs|env_alpha', '' || n,
        jsonb_build_object('text', 'alpha'), '2026-11-20', '2026-11-20', '2026-11-20'
      FROM generate_series(1, 1000) AS n`);
    for (const text of ['beta 1', 'beta 2']) {
      await world.enqueue(write, { text }, { environment: BETA, now: NOW });
    }
    const runner = world.runnerOf([write], {});
    for (let run = 0; run < 5; run += 1) await runner.runNext(NOW, GOES_ON);
    const texts = (await world.effects()).map(({ text }) => text);
    expect(texts).toEqual(['alpha', 'beta 1', 'alpha', 'beta 2', 'alpha']);
  });

  test('let one environment have some of their runs only, however long these take', async ({
    world,
  }) => {
    const ends: (() => void)[] = [];
    const slow = defineJob({
      name: 'slow',
      input: z.object({ n: z.number() }),
      key: ({ n }) => `${n}`,
      withLease: async () => {
        await new Promise<void>((resolve) => ends.push(resolve));
        return {};
      },
    });
    for (const n of [1, 2, 3, 4]) await world.enqueue(slow, { n }, { now: NOW });
    const runner = world.runnerOf([slow, write], {});
    const slowRuns = [runner.runNext(NOW, GOES_ON), runner.runNext(NOW, GOES_ON)];
    while (ends.length < 2) await delay(5);
    expect(await runner.runNext(NOW, GOES_ON)).toBe(false);
    await world.enqueue(write, { text: 'beta' }, { environment: BETA, now: NOW });
    expect(await runner.runNext(NOW, GOES_ON)).toBe(true);
    for (const end of ends) end();
    await Promise.all(slowRuns);
  });
});

describe('an item that fails', () => {
  const spoilt = defineJob({
    name: 'spoilt',
    input: z.object({ n: z.number() }),
    key: ({ n }) => `${n}`,
    retry: { tries: 3, firstPauseMs: 10 * SECOND_MS },
    inTransaction: async (tx, { input, run }) => {
      await note(tx, run, `tried ${input.n}`);
      throw new Error('the price is gone');
    },
  });

  test('leaves nothing behind, pauses longer each time, is parked with its reason, and stops nobody', async ({
    world,
  }) => {
    await world.enqueue(spoilt, { n: 1 }, { now: NOW });
    await world.enqueue(write, { text: 'goes on' }, { now: NOW });
    const runner = world.runnerOf([spoilt, write], {});
    const states = [];
    for (const seconds of [0, 9, 10, 39, 40, 1_000]) {
      const now = NOW + seconds * SECOND_MS;
      while (await runner.runNext(now, GOES_ON));
      states.push((await world.items()).map(({ status, attempts }) => `${status} ${attempts}`));
    }
    expect(states.flat()).toEqual([
      'waiting 1',
      'waiting 1',
      'waiting 2',
      'waiting 2',
      'parked 3',
      'parked 3',
    ]);
    expect((await world.effects()).map(({ text }) => text)).toEqual(['goes on']);
    expect((await world.items())[0]).toMatchObject({ error: 'the price is gone' });
  });

  test('with an input of another release is parked as well', async ({ world }) => {
    await world.enqueue({ ...spoilt, keyOf: () => '' }, { n: 'text' } as never, { now: NOW });
    const runner = world.runnerOf([spoilt], {});
    expect(await runner.runDue(NOW + 60 * MINUTE_MS)).toBe(3);
    expect(await world.items()).toMatchObject([{ status: 'parked', attempts: 3 }]);
  });

  test('is at its first try again once a run, whose process may then end, has got something done', async ({
    world,
  }) => {
    const seen: unknown[] = [];
    const long = defineJob({
      name: 'long',
      input: z.object({}),
      retry: { tries: 2 },
      leaseSeconds: 10,
      withLease: async ({ run }) => {
        seen.push(...(await world.items()).map(({ attempts }) => attempts));
        await run.progressed();
        seen.push(...(await world.items()).map(({ attempts }) => attempts));
        return {};
      },
    });
    await world.enqueue(long, {}, { now: NOW });
    await world.owner.query(sql.type(noRows)`
      UPDATE jobs SET status = 'running', claims = 1, attempts = 1, claimed_until = now() - interval '1 s'`);
    await world.runnerOf([long], {}).runNext(NOW, GOES_ON);
    expect(seen).toEqual([2, 1]);
    expect(await world.items()).toEqual([]);
  });

  test('by ending each process that begins it is parked too', async ({ world }) => {
    const deadly = defineJob({
      name: 'deadly',
      input: z.object({}),
      retry: { tries: 2 },
      leaseSeconds: 0.01,
      withLease: () => Promise.reject(new Error('must not be begun')),
    });
    await world.enqueue(deadly, {}, { now: NOW });
    await world.owner.query(sql.type(noRows)`
      UPDATE jobs SET status = 'running', claims = 2, attempts = 2, claimed_until = now() - interval '1 s'`);
    await world.runnerOf([deadly], {}).runNext(NOW, GOES_ON);
    expect(await world.items()).toMatchObject([
      { status: 'parked', error: 'each process that began it ended before it was done' },
    ]);
  });
});

describe('a job that holds a lease', () => {
  test('keeps it for as long as it runs, and loses it to nobody', async ({ world }) => {
    let runs = 0;
    const long = defineJob({
      name: 'long',
      input: z.object({}),
      leaseSeconds: 0.2,
      withLease: async () => {
        runs += 1;
        await delay(600);
        return {};
      },
    });
    await world.enqueue(long, {}, { now: NOW });
    const first = world.runnerOf([long], {}).runNext(NOW, GOES_ON);
    const other = world.runnerOf([long], {});
    for (let look = 0; look < 5; look += 1) {
      await delay(100);
      expect(await other.runNext(NOW, GOES_ON)).toBe(false);
    }
    await first;
    expect([runs, await world.items()]).toEqual([1, []]);
  });

  test('is taken over when its process is not heard of, which then changes nothing any more', async ({
    world,
  }) => {
    const reasons: unknown[] = [];
    let begun = 0;
    const stuck = defineJob({
      name: 'stuck',
      input: z.object({}),
      leaseSeconds: 0.2,
      withLease: async ({ run }) => {
        begun += 1;
        if (begun === 1) {
          await new Promise((resolve) => run.signal.addEventListener('abort', resolve));
          reasons.push(run.signal.reason);
        }
        return {};
      },
    });
    await world.enqueue(stuck, {}, { now: NOW });
    const first = world.runnerOf([stuck], {}).runNext(NOW, GOES_ON);
    while (begun === 0) await delay(5);
    // As after a pause of the whole process: the lease is over before it is renewed.
    await world.owner.query(sql.type(noRows)`
      UPDATE jobs SET claimed_until = now() - interval '1 s'`);
    expect(await world.runnerOf([stuck], {}).runNext(NOW, GOES_ON)).toBe(true);
    await first;
    expect(begun).toBe(2);
    expect(reasons).toEqual([new Error('another process has taken the job over')]);
    expect(await world.items()).toEqual([]);
  });

  test('that was taken over and fails then leaves the other run alone', async ({ world }) => {
    let begun = 0;
    const first = new AbortController();
    const stuck = defineJob({
      name: 'stuck',
      input: z.object({}),
      leaseSeconds: 0.2,
      withLease: async ({ run }) => {
        begun += 1;
        const until = begun === 1 ? run.signal : first.signal;
        await new Promise((resolve) => until.addEventListener('abort', resolve));
        if (until === run.signal) throw new Error('overtaken');
        return {};
      },
    });
    await world.enqueue(stuck, {}, { now: NOW });
    const overtaken = world.runnerOf([stuck], {}).runNext(NOW, GOES_ON);
    while (begun === 0) await delay(5);
    await world.owner.query(sql.type(noRows)`
      UPDATE jobs SET claimed_until = now() - interval '1 s'`);
    const other = world.runnerOf([stuck], {}).runNext(NOW, GOES_ON);
    await overtaken;
    expect(await world.items()).toMatchObject([{ status: 'running', attempts: 2, error: null }]);
    first.abort();
    await other;
    expect(await world.items()).toEqual([]);
  });

  test('is free at once, and as if it had not been tried, when its program ends', async ({
    world,
  }) => {
    const stop = new AbortController();
    const endless = defineJob({
      name: 'endless',
      input: z.object({}),
      withLease: async ({ run }) => {
        await delay(60_000, undefined, { signal: run.signal });
        return {};
      },
    });
    await world.enqueue(endless, {}, { now: NOW });
    const running = world.runnerOf([endless], {}).runNext(NOW, stop.signal);
    await delay(50);
    stop.abort();
    await running;
    expect(await world.items()).toMatchObject([{ status: 'waiting', attempts: 0, run_at: NOW }]);
  });
});

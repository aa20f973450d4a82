import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { DependencyError } from '../../runtime/failure.js';
import type { AppendRequest } from './event-log.js';
import { GroupCommit, type GroupLimits } from './group-commit.js';

const record = (value: string): AppendRequest => ({ partition: 0, key: '', value });

const LIMITS: GroupLimits = {
  groupRecordsMax: 4,
  groupBytesMax: 1_000,
  queueRecordsMax: 10,
  queueBytesMax: 5_000,
  appendTimeoutMs: 5_000,
};

/** A group commit whose commits the test ends. */
function createSlowLog(limits: Partial<GroupLimits> = {}) {
  const commits: { values: readonly string[]; end: (error?: Error) => void }[] = [];
  const group = new GroupCommit(
    (records) =>
      new Promise((resolve, reject) => {
        commits.push({
          values: records.map(({ value }) => value),
          end: (error) => {
            if (error === undefined) resolve();
            else reject(error);
          },
        });
      }),
    { ...LIMITS, ...limits },
  );
  const commit = async (index: number): Promise<(typeof commits)[number]> => {
    await expect.poll(() => commits.length).toBeGreaterThan(index);
    const found = commits[index];
    if (found === undefined) throw new Error('unreachable');
    return found;
  };
  return { group, commit };
}

describe('group commit', () => {
  test('appends that arrive during a commit share the next one, in order', async () => {
    const { group, commit } = createSlowLog();
    const first = group.append([record('1')]);
    const { values, end } = await commit(0);
    expect(values).toEqual(['1']);
    const later = [group.append([record('2a'), record('2b')]), group.append([record('3')])];
    end();
    await first;
    const second = await commit(1);
    expect(second.values).toEqual(['2a', '2b', '3']);
    second.end();
    await Promise.all(later);
  });

  test('appends of one turn of the event loop share the first commit', async () => {
    const { group, commit } = createSlowLog();
    const appends = [group.append([record('1')]), group.append([record('2')])];
    const { values, end } = await commit(0);
    expect(values).toEqual(['1', '2']);
    end();
    await Promise.all(appends);
  });

  test('a commit takes whole appends within its bounds, and a larger append alone', async () => {
    const { group, commit } = createSlowLog();
    const big = 'x'.repeat(2_000);
    const appends = ['1', '2', '3', '4', '5', big, '6'].map((value) =>
      group.append([record(value)]),
    );
    const groups = [];
    for (let index = 0; index < 4; index += 1) {
      const { values, end } = await commit(index);
      groups.push(values);
      end();
    }
    await Promise.all(appends);
    expect(groups).toEqual([['1', '2', '3', '4'], ['5'], [big], ['6']]);
  });

  test('refuses an append that exceeds the queue, and accepts it when there is room', async () => {
    const { group, commit } = createSlowLog({ queueRecordsMax: 2 });
    const first = group.append([record('1')]);
    const { end } = await commit(0);
    const queued = [group.append([record('2')]), group.append([record('3')])];
    await expect(group.append([record('4')])).rejects.toMatchObject({ isRetryable: true });
    end();
    (await commit(1)).end();
    await Promise.all([first, ...queued]);
    const again = group.append([record('5')]);
    (await commit(2)).end();
    await again;
  });

  test('a failed commit fails its own appends only', async () => {
    const { group, commit } = createSlowLog();
    const failing = group.append([record('1')]);
    const { end } = await commit(0);
    const next = group.append([record('2')]);
    end(new Error('disk full'));
    await expect(failing).rejects.toThrow(DependencyError);
    await expect(failing).rejects.toThrow('disk full');
    (await commit(1)).end();
    await next;
  });

  test('rejects late appends in time, and never commits those that were only queued', async () => {
    const { group, commit } = createSlowLog({ appendTimeoutMs: 50 });
    const first = group.append([record('1')]);
    const { end } = await commit(0);
    const queued = group.append([record('2')]);
    await expect(first).rejects.toThrow('not durable within 50 ms');
    await expect(queued).rejects.toThrow('not durable within 50 ms');
    const fresh = group.append([record('3')]);
    end();
    const second = await commit(1);
    expect(second.values).toEqual(['3']);
    second.end();
    await fresh;
  });

  test('closing waits for queued appends and refuses later ones', async () => {
    const { group, commit } = createSlowLog();
    const appends = [group.append([record('1')]), group.append([record('2')])];
    let isClosed = false;
    const closing = group.close().then(() => {
      isClosed = true;
    });
    await expect(group.append([record('3')])).rejects.toThrow('closed');
    const { end } = await commit(0);
    await sleep(10);
    expect(isClosed).toBe(false);
    end();
    await Promise.all([closing, ...appends]);
  });
});

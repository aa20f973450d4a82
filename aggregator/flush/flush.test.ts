import { describe, expect, it } from 'vitest';
import type { Batch } from '../protocol/state.js';
import { Flush, type SharedCommand, type SharedPerformance, type Writing } from './flush.js';

const intent = { end: 1, catalogVersion: 1, foldVersion: 1, digest: '' };
const INTEND: SharedCommand = { kind: 'intend', epoch: 1, start: 0, intent, isReplacement: false };
const FINISH: SharedCommand = {
  kind: 'finish',
  epoch: 1,
  start: 0,
  end: 1,
  rows: 1,
  appendedAtMs: 0,
};

function insertOf(...tables: Extract<SharedCommand, { kind: 'insert' }>['tables']): SharedCommand {
  return { kind: 'insert', epoch: 1, batch: {} as Batch, tables };
}

const nameOf = ({ partition, command }: Writing): string =>
  `${partition} ${command.kind === 'insert' ? command.tables.join('+') : command.kind}`;

/** A flush that notes what was done together. */
function notedFlush(
  partitions: readonly number[],
  outcomeOf?: (writing: Writing) => SharedPerformance['outcome'],
) {
  const together: string[][] = [];
  const flush = new Flush(partitions, (writings) => {
    together.push(writings.map(nameOf));
    const performed = writings.map((writing): [number, SharedPerformance] => [
      writing.partition,
      { outcome: outcomeOf?.(writing) ?? { kind: 'written' }, cause: null },
    ]);
    return Promise.resolve(new Map(performed));
  });
  return { flush, together };
}

async function runAll(
  flush: Flush,
  partition: number,
  commands: readonly SharedCommand[],
): Promise<void> {
  for (const command of commands) await flush.write(partition, command);
  flush.leave(partition);
}

describe('a flush', () => {
  it('does each step once for all its partitions', async () => {
    const { flush, together } = notedFlush([0, 1]);
    const steps = [INTEND, insertOf('events'), insertOf('ids', 'usage'), FINISH];
    await Promise.all([0, 1].map((partition) => runAll(flush, partition, steps)));
    await flush.ended;
    expect(together).toEqual([
      ['0 intend', '1 intend'],
      ['0 events', '1 events'],
      ['0 ids+usage', '1 ids+usage'],
      ['0 finish', '1 finish'],
    ]);
  });

  it('lets those that have no events wait for those that have', async () => {
    const { flush, together } = notedFlush([0, 1]);
    await Promise.all([
      runAll(flush, 0, [INTEND, insertOf('duplicates'), insertOf('usage'), FINISH]),
      runAll(flush, 1, [INTEND, insertOf('usage'), FINISH]),
    ]);
    expect(together).toEqual([
      ['0 intend', '1 intend'],
      ['0 duplicates'],
      ['1 usage', '0 usage'],
      ['1 finish', '0 finish'],
    ]);
  });

  it('waits for one that intends again', async () => {
    const { flush, together } = notedFlush([0, 1]);
    await Promise.all([
      runAll(flush, 0, [INTEND, INTEND, insertOf('events')]),
      runAll(flush, 1, [INTEND, insertOf('events')]),
    ]);
    expect(together).toEqual([['0 intend', '1 intend'], ['0 intend'], ['1 events', '0 events']]);
  });

  it('goes on without a partition that has left, and ends when all have', async () => {
    const { flush, together } = notedFlush([0, 1, 2]);
    const others = [1, 2].map((partition) => runAll(flush, partition, [INTEND, FINISH]));
    await Promise.resolve();
    expect(together).toEqual([]);
    flush.leave(0);
    await Promise.all(others);
    await flush.ended;
    expect(together).toEqual([
      ['1 intend', '2 intend'],
      ['1 finish', '2 finish'],
    ]);
  });

  it('tells each partition its own outcome', async () => {
    const { flush } = notedFlush([0, 1], ({ partition }) =>
      partition === 0 ? { kind: 'unknown' } : { kind: 'inserted' },
    );
    const [first, second] = await Promise.all(
      [0, 1].map((partition) => flush.write(partition, insertOf('events'))),
    );
    expect(first?.outcome).toEqual({ kind: 'unknown' });
    expect(second?.outcome).toEqual({ kind: 'inserted' });
  });

  it('passes a bug on to all of them', async () => {
    const bug = new Error('a bug');
    const flush = new Flush([0, 1], () => Promise.reject(bug));
    const writes = [0, 1].map((partition) => flush.write(partition, INTEND));
    for (const write of writes) await expect(write).rejects.toBe(bug);
  });
});

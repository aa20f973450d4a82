import { describe, expect } from 'vitest';
import type { ClickHouse } from '../../clickhouse/client.js';
import { test } from '../../load-tests/harness/fixtures.js';
import { DependencyError } from '../../runtime/failure.js';
import { hashText } from '../../runtime/hash-text.js';
import { IdLookUps, type IdQuestion } from './id-look-ups.js';

const OCTOBER = '2026-10-15 10:00:00.000';
const NOVEMBER = '2026-11-15 10:00:00.000';

type Place = {
  readonly log?: string;
  readonly partition: number;
  readonly offset: number;
  readonly at?: string;
};

async function store(
  client: ClickHouse,
  id: string,
  { log = 'log', partition, offset, at = NOVEMBER }: Place,
): Promise<void> {
  await client.command(
    `INSERT INTO event_ids_v1 SELECT {log:String}, {partition:UInt32},
       toFixedString(unhex({hash:String}), 16), {offset:UInt64}, 0, toFixedString('payload_', 8),
       {at:String}, true, {at:String}`,
    { log, partition, hash: hashText(id), offset, at },
  );
}

function question(partition: number, below: number, ids: readonly string[]): IdQuestion {
  const appendedAtMs = Date.UTC(2026, 10, 20);
  return { partition, idHashes: ids.map(hashText), below, appendedAtMs };
}

/** Asks everything in one turn; the ids that each question found, and how many queries it took. */
async function findAll(client: ClickHouse, questions: readonly IdQuestion[]) {
  let queries = 0;
  const counting: Pick<ClickHouse, 'query'> = {
    query: (...query) => {
      queries += 1;
      return client.query(...query);
    },
  };
  const lookUps = new IdLookUps(counting, 'log');
  const found = await Promise.all(questions.map((asked) => lookUps.find(asked)));
  return { queries, found: found.map((some) => [...some.keys()]) };
}

describe('the look-ups of several partitions', () => {
  test('are one question for the last months, and one for all others', async ({ clickhouse }) => {
    const { client } = clickhouse;
    await store(client, 'a', { partition: 0, offset: 5 });
    await store(client, 'b', { partition: 1, offset: 5, at: OCTOBER });
    const some = [question(0, 9, ['a', 'new']), question(1, 9, ['b', 'other'])];
    const expected = [[hashText('a')], [hashText('b')]];
    expect(await findAll(client, some)).toEqual({ queries: 2, found: expected });
    const known = [question(0, 9, ['a']), question(11, 9, [])];
    expect(await findAll(client, known)).toEqual({ queries: 1, found: [[hashText('a')], []] });
    expect(await findAll(client, [question(3, 9, [])])).toEqual({ queries: 0, found: [[]] });
  });

  test.for([NOVEMBER, OCTOBER])(
    'find for each partition what lies below its own bound (%s)',
    async (at, { clickhouse: { client } }) => {
      const places = [0, 1, 2].map((partition) => ({ partition, offset: 5 + partition }));
      for (const place of places) await store(client, `id${place.partition}`, { ...place, at });
      const asked = [5, 7, 8].map((below, partition) =>
        question(partition, below, [`id${partition}`]),
      );
      const { found } = await findAll(client, asked);
      expect(found).toEqual([[], [hashText('id1')], [hashText('id2')]]);
    },
  );

  test('find nothing of another partition of the log', async ({ clickhouse: { client } }) => {
    await store(client, 'a', { partition: 0, offset: 5 });
    await store(client, 'b', { partition: 1, offset: 5, at: OCTOBER });
    const { found } = await findAll(client, [question(0, 9, ['b']), question(1, 9, ['a'])]);
    expect(found).toEqual([[], []]);
  });

  test('find an id of an earlier log in whatever partition and offset it stands', async ({
    clickhouse: { client },
  }) => {
    await store(client, 'a', { log: 'earlier', partition: 7, offset: 900, at: OCTOBER });
    await store(client, 'b', { log: 'earlier', partition: 8, offset: 900 });
    const { found } = await findAll(client, [question(0, 9, ['a', 'x']), question(1, 9, ['b'])]);
    expect(found).toEqual([[hashText('a')], [hashText('b')]]);
  });

  test('find as many ids as there are, whatever their number', async ({
    clickhouse: { client },
  }) => {
    const ids = Array.from({ length: 4_000 }, (_, index) => `id-${index}`);
    await client.command(
      `INSERT INTO event_ids_v1 SELECT 'log', 1, toFixedString(unhex(arrayJoin(
         splitByChar(',', '${ids.map(hashText).join(',')}'))), 16), 5, 0, '', now64(3), true, now64(3)`,
    );
    const { found } = await findAll(client, [
      question(
        0,
        9,
        ids.map((id) => `not-${id}`),
      ),
      question(1, 9, ids),
    ]);
    expect(found.map((some) => some.length)).toEqual([0, ids.length]);
  });

  test('all fail when the server does, and are asked anew', async ({ clickhouse: { client } }) => {
    await store(client, 'a', { partition: 0, offset: 5 });
    const outage = new DependencyError('away', { dependency: 'clickhouse', isRetryable: true });
    let isAway = true;
    const lookUps = new IdLookUps(
      {
        query: (...query) => (isAway ? Promise.reject(outage) : client.query(...query)),
      },
      'log',
    );
    const asked = [question(0, 9, ['a']), question(1, 9, ['b'])];
    const ended = await Promise.allSettled(asked.map((some) => lookUps.find(some)));
    expect(ended.map((end) => end.status)).toEqual(['rejected', 'rejected']);
    isAway = false;
    expect((await lookUps.find(question(0, 9, ['a']))).size).toBe(1);
  });
});

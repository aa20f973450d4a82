import { describe, expect, vi } from 'vitest';
import {
  environment,
  eventOf,
  totals,
  WAIT,
} from '../../../aggregator/testing/aggregator-world.js';
import { runVerb } from '../../../load-tests/harness/run-verb.js';
import { isAllCounted, sendOf, test } from '../testing/erasure-world.js';

describe('minutebook customers erase, as an operator runs it', () => {
  test('says what it would erase, erases it, and says in one sentence why it cannot', async ({
    erasing: world,
    database,
    clickhouse,
  }) => {
    await world.startAggregator();
    await sendOf(world, environment, [eventOf('a'), eventOf('b')]);
    await vi.waitFor(async () => {
      expect(await isAllCounted(world)).toBe(true);
    }, WAIT);
    const settings = { DATABASE_URL: database.url, CLICKHOUSE_URL: clickhouse.url };
    const run = (...words: readonly string[]) =>
      runVerb(settings, 'customers', 'erase', '--environment', 'env_1', ...words);
    expect(await run('--external-id', 'acme')).toEqual({
      status: 1,
      said: 'nothing was erased yet: 2 stored events of acme in env_1 would be erased, and those that wait in the log; add --yes to erase them for ever\n',
    });
    expect((await totals(world.clickhouse)).events).toBe(2);
    const erased = await run('--external-id', 'acme', '--yes');
    expect(erased.said).toContain('2 events of acme were erased');
    expect(erased.status).toBe(0);
    expect((await totals(world.clickhouse)).events).toBe(0);
    const unknown = await run('cust_x', '--yes');
    expect([unknown.status, unknown.said.split('\n')]).toMatchObject([
      1,
      [expect.stringMatching(/^cust_x is no customer of env_1; /), ''],
    ]);
    expect((await run('--yes')).said).toContain('by their ids or by --external-id');
  });
});

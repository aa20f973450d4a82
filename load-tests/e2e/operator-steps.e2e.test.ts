import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { test, withEmptyClickHouse, withEmptyDatabase } from '../harness/fixtures.js';
import { block, eraseByThePage, Product, Terminal } from './operators-terminal.js';

describe('the steps of docs/operations.md, pasted from the page', () => {
  test('lead from empty servers to the programs, change a key, back up, restore with equal counts, renew the log, and erase a customer', async ({
    emptyDatabaseUrl,
    emptyClickHouseUrl,
    directory,
  }) => {
    const terminal = new Terminal();
    const prepared = await terminal.paste(
      block('1.1', 'npx minutebook migrate', {
        'postgres://user:password@host/minutebook': `'${emptyDatabaseUrl}'`,
        'http://user:password@host:8123/minutebook': `'${emptyClickHouseUrl}'`,
      }),
    );
    expect(prepared).toMatch(
      /^PostgreSQL now has 0001.*\nClickHouse now has 0001.*\nThe first API/,
    );
    const firstKey = terminal.variables['MINUTEBOOK_BOOTSTRAP_API_KEY'] ?? '';
    const product = await Product.start(terminal);
    let meterId = '';
    let apiKey = firstKey;
    const backup = { '/backups/2026-11-23': join(directory, 'backup') };
    try {
      const ready = block('1.1', 'curl', { 'http://127.0.0.1:8080': product.url });
      expect(await terminal.paste(ready)).toContain('"items":[]');
      await product.post(firstKey, '/customers', { external_id: 'acme', name: 'Acme' });
      const meter = { name: 'Calls', event_name: 'call', aggregation: { type: 'COUNT' } };
      meterId = (await product.post<{ id: string }>(firstKey, '/meters', meter)).id;
      await product.send(firstKey, [1, 2, 3, 1]);

      // 1.4: both keys work until the old one is revoked.
      const listed = await terminal.paste('npx minutebook keys list');
      terminal.variables['OLD_KEY_ID'] = /secret_\w+/.exec(listed)?.[0] ?? '';
      const changed = await terminal.paste(block('1.4', 'keys revoke "$OLD_KEY_ID"'));
      expect(changed).toContain('Sender of 2027');
      apiKey = terminal.variables['NEW_KEY'] ?? '';
      await product.send(apiKey, [3, 4]);
      await expect
        .poll(() => product.send(firstKey, [5]).catch(String), { timeout: 20_000, interval: 200 })
        .toMatch(/^Error: \/events\/bulk: 401 /);
      await product.send(apiKey, [5]);
      await product.expectUsage(apiKey, meterId, 5);

      // 11: with the aggregators stopped; what comes meanwhile is counted where it is restored.
      await product.aggregator.stop();
      await product.send(apiKey, [6]);
      expect(await terminal.paste(block('11', 'minutebook backup', backup))).toMatch(
        /holds a whole backup of 20/,
      );
    } finally {
      await product.stop();
    }

    await withEmptyDatabase((DATABASE_URL) =>
      withEmptyClickHouse(async (CLICKHOUSE_URL) => {
        const other = new Terminal();
        const secret = terminal.variables['MINUTEBOOK_TOKEN_SECRET'] ?? '';
        const servers = { DATABASE_URL, CLICKHOUSE_URL, MINUTEBOOK_TOKEN_SECRET: secret };
        Object.assign(other.variables, servers);
        const restored = await other.paste(block('11', 'minutebook restore', backup));
        expect(restored).toMatch(
          /^Restored the backup of .*: rows and digest of every table agree/m,
        );
        const second = await Product.start(other);
        try {
          await second.expectUsage(apiKey, meterId, 6);
          await second.send(apiKey, [2, 6, 7]);
          await second.expectUsage(apiKey, meterId, 7);
        } finally {
          await second.stop();
        }

        const renewed = await other.paste(block('11', 'minutebook log renew'));
        expect(renewed).toMatch(/^The log in PostgreSQL is now pg-\w+\. Start the programs\.$/m);
        const third = await Product.start(other);
        try {
          await third.send(apiKey, [7, 8]);
          await third.expectUsage(apiKey, meterId, 8);

          const environmentId = await third.environmentOf(apiKey);
          const { looked, erased } = await eraseByThePage(other, {
            externalId: 'acme',
            environmentId,
          });
          expect(looked).toContain('nothing was erased yet: 8 stored events');
          expect(erased).toContain('8 events of acme were erased');
          // What was erased stays a duplicate, and what is new counts.
          await third.send(apiKey, [1, 8, 9]);
          await third.expectUsage(apiKey, meterId, 1);
        } finally {
          await third.stop();
        }
      }),
    );
  });
});

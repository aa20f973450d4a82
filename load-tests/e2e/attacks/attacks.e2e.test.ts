import { gzipSync } from 'node:zlib';
import { describe, expect, vi } from 'vitest';
import { test } from '../../harness/fixtures.js';
import { expectReturned, expectUsual, withAttackedProduct } from './attacked-product.js';

const MIB = 1024 * 1024;
/** Of the attacker, so that its queries read something. */
const EVENTS = 20_000;
const WAIT = { timeout: 10_000, interval: 50 };

function head(path: string, apiKey: string, lines: readonly string[]): string {
  const first = [`POST ${path} HTTP/1.1`, 'host: t', `x-api-key: ${apiKey}`];
  return [...first, 'content-type: application/json', ...lines, '', ''].join('\r\n');
}

describe('other tenants are served as usual', () => {
  test('while a publishable key stalls gzip bodies of almost 32 MiB', async ({
    database,
    clickhouse,
    directory,
  }) => {
    const engines = { database, clickhouse, directory };
    await withAttackedProduct('everything', engines, async (product) => {
      await product.timesOfOther();
      const usual = await product.timesOfOther();
      const before = { memoryBytes: await product.memoryBytes() };
      const packed = gzipSync(Buffer.alloc(32 * MIB - 1000, ' '));
      const lines = ['content-encoding: gzip', `content-length: ${packed.length}`];
      // Two filled the memory for bodies when it was not shared out; four would fill it now.
      const sockets = await Promise.all(Array.from({ length: 4 }, () => product.open()));
      for (const socket of sockets) {
        socket.write(head('/v1/events', product.publishableKey, lines));
        socket.write(packed.subarray(0, -20));
      }
      await vi.waitFor(async () => {
        expect(await product.bodyBytes()).toBeGreaterThan(31 * MIB);
      }, WAIT);
      expectUsual(await product.timesOfOther(), usual);
      await expectReturned(product, before, 15_000);
      for (const socket of sockets) socket.destroy();
    });
  });

  test('while 1,000 clients without a key ignore that they were closed', async ({
    database,
    clickhouse,
    directory,
  }) => {
    const engines = { database, clickhouse, directory };
    await withAttackedProduct('everything', engines, async (product) => {
      await product.timesOfOther();
      const usual = await product.timesOfOther();
      const before = { memoryBytes: await product.memoryBytes() };
      const sockets = await Promise.all(Array.from({ length: 1_000 }, () => product.open()));
      const parts = ['hello\r\n\r\n', `GET / HTTP/1.1\r\nx: ${'y'.repeat(20_000)}`, 'POST /v1/'];
      sockets.forEach((socket, index) => socket.write(parts[index % parts.length] ?? ''));
      expectUsual(await product.timesOfOther(), usual);
      // Headers have 10 s, and time is checked every 5 s.
      await expectReturned(product, before, 20_000);
      for (const socket of sockets) socket.destroy();
    });
  });

  test.for(['everything', 'billing-api'] as const)(
    'of %s while 100 bodies of the REST API arrive slowly',
    async (part, { database, clickhouse, directory }) => {
      await withAttackedProduct(part, { database, clickhouse, directory }, async (product) => {
        await product.timesOfOther();
        const usual = await product.timesOfOther();
        const before = { memoryBytes: await product.memoryBytes() };
        const sockets = await Promise.all(Array.from({ length: 100 }, () => product.open()));
        for (const socket of sockets) {
          socket.write(head('/v1/plans', product.attackerKey, [`content-length: ${MIB}`]));
          socket.write(' '.repeat(100_000));
        }
        const drip = setInterval(() => {
          for (const socket of sockets) if (socket.writable) socket.write(' ');
        }, 200);
        await vi.waitFor(async () => {
          expect(await product.bodyBytes()).toBeGreaterThan(9 * MIB);
        }, WAIT);
        expectUsual(await product.timesOfOther(), usual);
        await expectReturned(product, before, 15_000);
        clearInterval(drip);
        for (const socket of sockets) socket.destroy();
      });
    },
  );

  test.for(['everything', 'billing-api'] as const)(
    'of %s while lists of a million elements are sent to the REST API',
    async (part, { database, clickhouse, directory }) => {
      await withAttackedProduct(part, { database, clickhouse, directory }, async (product) => {
        await product.timesOfOther();
        const usual = await product.timesOfOther();
        const before = { memoryBytes: await product.memoryBytes() };
        const body = gzipSync(`{"plan_ids":[${'0,'.repeat(1_000_000)}0]}`);
        let isOver = false;
        const attack = async (): Promise<readonly string[]> => {
          const messages: string[] = [];
          while (!isOver) {
            const answer = await fetch(`${product.program.url}/v1/plans/search`, {
              method: 'POST',
              headers: {
                'x-api-key': product.attackerKey,
                'content-type': 'application/json',
                'content-encoding': 'gzip',
              },
              body,
            });
            messages.push(`${answer.status} ${await answer.text()}`);
          }
          return messages;
        };
        const attacks = [attack(), attack()];
        const during = await product.timesOfOther();
        isOver = true;
        const messages = (await Promise.all(attacks)).flat();
        expect(messages.length).toBeGreaterThan(10);
        for (const message of messages) expect(message).toMatch(/^400 .*60000 values/);
        expectUsual(during, usual);
        await expectReturned(product, before, 10_000);
      });
    },
  );

  test('while twenty heavy queries of one tenant are asked at once, again and again', async ({
    database,
    clickhouse,
    directory,
  }) => {
    const engines = { database, clickhouse, directory };
    await withAttackedProduct('everything', engines, async (product) => {
      const ask = async (path: string, body: object): Promise<readonly [number, string]> => {
        const answer = await fetch(`${product.program.url}${path}`, {
          method: 'POST',
          headers: { 'x-api-key': product.attackerKey, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        return [answer.status, await answer.text()];
      };
      for (let bulk = 0; bulk < EVENTS / 1_000; bulk += 1) {
        const events = Array.from({ length: 1_000 }, (_, index) => ({
          event_name: 'call',
          external_customer_id: `customer-${index}`,
          properties: { region: `region-${index % 50}`, bytes: index },
        }));
        expect((await ask('/v1/events/bulk', { events }))[0]).toBe(202);
      }
      const heavy = {
        event_name: 'call',
        aggregation_type: 'SUM',
        property_name: 'bytes',
        group_by: ['properties.region'],
      };
      const total = { event_name: 'call', aggregation_type: 'COUNT' };
      await vi.waitFor(
        async () => {
          const [, text] = await ask('/v1/events/usage', total);
          expect(JSON.parse(text)).toMatchObject({ value: String(EVENTS) });
        },
        { timeout: 60_000, interval: 500 },
      );
      await product.timesOfOther();
      const usual = await product.timesOfOther();
      let isOver = false;
      const statuses: number[] = [];
      const attacks = Array.from({ length: 20 }, async () => {
        while (!isOver) statuses.push((await ask('/v1/events/usage', heavy))[0]);
      });
      const during = await product.timesOfOther();
      isOver = true;
      await Promise.all(attacks);
      expect(new Set(statuses)).toContain(200);
      for (const status of statuses) expect([200, 429]).toContain(status);
      expectUsual(during, usual);
    });
  });
});

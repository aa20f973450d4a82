import { gzipSync } from 'node:zlib';
import { describe, expect, vi } from 'vitest';
import { test } from '../../harness/fixtures.js';
import { expectReturned, expectUsual, withAttackedProduct } from './attacked-product.js';

const MIB = 1024 * 1024;
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
      const { usual, before } = await product.atRest();
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
      const { usual, before } = await product.atRest();
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
        const { usual, before } = await product.atRest();
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
        const { usual, before } = await product.atRest();
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
        // Each of the two went on while the other tenant asked, however slow the machine is.
        expect(messages.length).toBeGreaterThanOrEqual(2);
        for (const message of messages) expect(message).toMatch(/^400 .*60000 values/);
        expectUsual(during, usual);
        await expectReturned(product, before, 10_000);
      });
    },
  );
});

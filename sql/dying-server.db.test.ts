import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { describe, expect } from 'vitest';
import { endOfProgram } from '../load-tests/harness/end-of-program.js';
import { test } from '../load-tests/harness/fixtures.js';

/** A message of PostgreSQL's protocol: a letter, a length that counts its own 4 bytes, content. */
function message(letter: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length + 4);
  return Buffer.concat([Buffer.from(letter), length, content]);
}

const SHUT_DOWN =
  'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0';

/**
 * A server that accepts every client and is shut down before the first statement. It sends all of
 * this at once, so that the client reads of the end before a statement can wait for its answer.
 */
async function startDyingServer(): Promise<Server> {
  const greeting = Buffer.concat([
    message('R', Buffer.from([0, 0, 0, 0])),
    message('Z', Buffer.from('I')),
    message('E', Buffer.from(SHUT_DOWN)),
  ]);
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(greeting));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

describe('a PostgreSQL that shuts down while a pool opens', () => {
  test.for(['ingest', 'aggregator', 'billing-api'] as const)(
    'ends %s with one line that names it',
    async (program) => {
      const server = await startDyingServer();
      const { port } = server.address() as AddressInfo;
      const url = `postgres://a:b@127.0.0.1:${port}/c`;
      const { status, lines } = await endOfProgram(program, { DATABASE_URL: url });
      server.close();
      expect(status).toBe(1);
      expect(lines).toHaveLength(1);
      expect(JSON.parse(lines[0] ?? '')).toMatchObject({
        level: 60,
        msg: 'stopped',
        error: 'PostgreSQL: terminating connection due to administrator command',
      });
    },
  );
});

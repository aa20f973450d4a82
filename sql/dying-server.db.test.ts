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
 * A server that lets every client in and is gone before the first statement. Its welcome and its
 * last message arrive together, so the client learns of the end before it can ask anything.
 */
async function startDyingServer(lastMessage: Buffer): Promise<Server> {
  const greeting = [
    message('R', Buffer.from([0, 0, 0, 0])),
    message('Z', Buffer.from('I')),
    lastMessage,
  ];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(Buffer.concat(greeting)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const DEATHS = [
  {
    how: 'says that it shuts down',
    lastMessage: message('E', Buffer.from(SHUT_DOWN)),
    error: 'PostgreSQL: terminating connection due to administrator command',
  },
  {
    how: 'is cut off without a word',
    lastMessage: Buffer.alloc(0),
    error: 'PostgreSQL: Connection terminated unexpectedly',
  },
];

describe.for(DEATHS)('a PostgreSQL that $how while a pool opens', ({ lastMessage, error }) => {
  test.for(['ingest', 'aggregator', 'billing-api'] as const)(
    'ends %s with one line that names it',
    async (program) => {
      const server = await startDyingServer(lastMessage);
      const { port } = server.address() as AddressInfo;
      const url = `postgres://a:b@127.0.0.1:${port}/c`;
      const { status, lines } = await endOfProgram(program, { DATABASE_URL: url });
      server.close();
      expect(status).toBe(1);
      expect(lines).toHaveLength(1);
      const said = JSON.parse(lines[0] ?? '') as object;
      expect(said).toMatchObject({ level: 60, msg: 'stopped', error });
      expect(said).not.toHaveProperty('stack');
    },
  );
});

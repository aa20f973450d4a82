import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

/** A message of PostgreSQL's protocol: a letter, a length that counts its own 4 bytes, content. */
export function postgresMessage(letter: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length + 4);
  return Buffer.concat([Buffer.from(letter), length, content]);
}

const WELCOME = Buffer.concat([
  postgresMessage('R', Buffer.from([0, 0, 0, 0])),
  postgresMessage('Z', Buffer.from('I')),
]);

/** A server that lets every client in and answers nothing. */
export type FakePostgres = {
  readonly url: string;
  /** How many clients it has let in so far. */
  readonly welcomed: () => number;
  readonly close: () => Promise<void>;
};

/**
 * Starts a server that lets every client in and answers no statement.
 * @param farewell what it says together with its welcome, before it closes the connection; without
 *   one it stays silent, and never closes a connection, as a server whose machine has vanished.
 */
export async function startFakePostgres(farewell?: Buffer): Promise<FakePostgres> {
  const sockets = new Set<Socket>();
  let welcomed = 0;
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => {
      welcomed += 1;
      if (farewell === undefined) socket.write(WELCOME);
      else socket.end(Buffer.concat([WELCOME, farewell]));
    });
    socket.resume();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `postgres://a:b@127.0.0.1:${port}/c`,
    welcomed: () => welcomed,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

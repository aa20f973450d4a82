import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Stands at one address for whichever server the caller names, as a balancer does. */
export type Forward = {
  /** The URL of a server, with the address of this one. */
  readonly address: (url: string) => string;
  /** Cuts all connections. */
  readonly cut: () => void;
  readonly close: () => Promise<void>;
};

/** Passes every new connection on to the port of this machine that `choosePort` names then. */
export async function startForward(choosePort: () => number): Promise<Forward> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const target = connect(choosePort(), '127.0.0.1');
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        client.destroy();
        target.destroy();
        sockets.delete(socket);
      });
    }
    client.pipe(target);
    target.pipe(client);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    cut,
    address: (url) => {
      const address = new URL(url);
      address.hostname = '127.0.0.1';
      address.port = String(port);
      return address.href;
    },
    close: async () => {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}

import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';

const LINE_END = '\r\n';

/** The parts of a request follow each other sooner. */
const PAUSE_MS = 100;

/**
 * Passes requests on to a port of this machine. One that has the marker is passed on up to the
 * chunk of its body that begins with it, and then the connection ends, as when a sender is killed
 * between two of its writes.
 */
export async function startCut(port: number, marker: string) {
  const server = createServer((client) => {
    const target = connect(port, '127.0.0.1');
    let kept = Buffer.alloc(0);
    let timer = setTimeout(() => undefined, 0);
    const passOn = (end: number): void => {
      target.write(kept.subarray(0, end));
      kept = kept.subarray(end);
    };
    client.on('data', (part: Buffer) => {
      clearTimeout(timer);
      kept = Buffer.concat([kept, part]);
      const at = kept.indexOf(marker);
      if (at < 0) {
        timer = setTimeout(() => passOn(kept.length), PAUSE_MS);
        return;
      }
      // Before the marker stand the length of its chunk and a line end.
      passOn(kept.lastIndexOf(LINE_END, at - LINE_END.length - 1) + LINE_END.length);
      target.end();
      client.destroy();
    });
    target.on('data', (part: Buffer) => client.write(part));
    for (const socket of [client, target]) socket.on('error', () => undefined);
    client.on('close', () => target.end());
    target.on('close', () => client.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: async (): Promise<void> => {
      server.close();
      await once(server, 'close');
    },
  };
}

import { createServer } from 'node:net';
import { codeOf } from './failure.js';

const LOOPBACK = '127.0.0.1';

/**
 * A free loopback port: the wanted one, or any when `wanted` is 0. Null when the wanted one is
 * taken. Another program may still take the port before it is used.
 */
export function findFreePort(wanted: number): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error) => {
      if (codeOf(error) === 'EADDRINUSE') resolve(null);
      else reject(error);
    });
    server.listen({ port: wanted, host: LOOPBACK, exclusive: true }, () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : wanted;
      server.close(() => {
        resolve(port);
      });
    });
  });
}

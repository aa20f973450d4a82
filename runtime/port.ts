import { createServer } from 'node:net';
import { codeOf } from './failure.js';

const LOOPBACK = '127.0.0.1';
/**
 * Where a port is drawn from when any will do. Systems give outgoing connections their ports from
 * 32,768 or from 49,152 on. A program that is started at a port of that range may find it taken
 * by a client that connected meanwhile.
 */
const DRAWN_FIRST = 20_000;
const DRAWN_COUNT = 10_000;

/** What this process has drawn, so that no two of its programs get the same one. */
const drawn = new Set<number>();

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error) => {
      if (codeOf(error) === 'EADDRINUSE') resolve(false);
      else reject(error);
    });
    server.listen({ port, host: LOOPBACK, exclusive: true }, () => {
      server.close(() => {
        resolve(true);
      });
    });
  });
}

/** A free loopback port for a program that is started later, and that may come and go. */
export async function drawFreePort(): Promise<number> {
  for (;;) {
    if (drawn.size === DRAWN_COUNT) drawn.clear();
    const port = DRAWN_FIRST + Math.floor(Math.random() * DRAWN_COUNT);
    if (drawn.has(port)) continue;
    drawn.add(port);
    if (await isFree(port)) return port;
  }
}

/**
 * A free loopback port: the wanted one, or any when `wanted` is 0. Null when the wanted one is
 * taken. Another program may still take the port before it is used.
 */
export async function findFreePort(wanted: number): Promise<number | null> {
  if (wanted === 0) return drawFreePort();
  return (await isFree(wanted)) ? wanted : null;
}

import { findFreePort } from '../../../../runtime/port.js';

const PORT_FIRST = 20_000;
const PORTS = 10_000;

const reserved = new Set<number>();

/**
 * A port of loopback for a program that comes and goes. It lies where no outgoing connection gets
 * its own from: a program that is down would find its port taken by a client that looks for it.
 */
export async function reservePort(): Promise<number> {
  for (;;) {
    const wanted = PORT_FIRST + Math.floor(Math.random() * PORTS);
    if (reserved.has(wanted)) continue;
    const port = await findFreePort(wanted);
    if (port === null) continue;
    reserved.add(port);
    return port;
  }
}

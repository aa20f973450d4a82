import { once } from 'node:events';
import {
  createServer,
  request,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
} from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { createLog } from '../../runtime/log.js';
import { createMetrics } from '../../runtime/metrics.js';
import { ProgramServer, serveWith } from '../../runtime/http/program-server.js';
import { createForward, type ForwardOptions } from '../forward/forward-requests.js';

/** For tests of forwarding: a server in the place of billing-api, and one that sends on to it. */

export type Behind = {
  readonly origin: string;
  /** Connections that are open. */
  readonly sockets: ReadonlySet<Socket>;
  readonly close: () => void;
};

/** A server in the place of billing-api. */
export async function startBehind(listener: RequestListener): Promise<Behind> {
  const server = createServer({ keepAliveTimeout: 65_000 }, listener).listen(0, '127.0.0.1');
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  onTestFinished(close);
  return { origin: `http://127.0.0.1:${port}`, sockets, close };
}

export type Front = { readonly port: number; readonly close: () => Promise<void> };

/** A server that sends every request on. */
export async function startFront(
  origin: string | null,
  different: Partial<ForwardOptions> = {},
): Promise<Front> {
  const metrics = createMetrics('ingest');
  const log = createLog('forwarding-test', 'silent');
  const options = { origin: () => origin, proxyCount: 0, log, metrics, ...different };
  const forward = createForward(options);
  const server = new ProgramServer({ handler: serveWith(forward.listener), metrics });
  const port = await server.listen(0, '127.0.0.1');
  const close = async (): Promise<void> => {
    await server.close();
    forward.close();
  };
  onTestFinished(close);
  return { port, close };
}

export type Answer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

/** Sends one request. @throws when the connection is cut before the answer is complete. */
export async function ask(
  port: number,
  line: `${string} /${string}`,
  how: { readonly headers?: Readonly<Record<string, string>>; readonly body?: string } = {},
): Promise<Answer> {
  const [method, path] = line.split(' ');
  const { headers = {}, body } = how;
  const sent = request({ port, host: '127.0.0.1', method, path, headers });
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: await text(answer) };
}

/** Everything that comes back for these bytes on one connection, until the server closes it. */
export async function exchangeRaw(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes);
  return text(socket);
}

import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/** What a receiver was sent. */
export type Received = { readonly headers: IncomingHttpHeaders; readonly body: string };

/** How a receiver answers a message: a status, and how long it waits. */
export type Behaviour = (received: Received) => {
  readonly status: number;
  readonly body?: string;
  readonly waitMs?: number;
  readonly location?: string;
};

export type Receiver = {
  readonly url: string;
  readonly received: Received[];
  behave: Behaviour;
  readonly close: () => Promise<void>;
};

/** Starts a receiver of webhooks on a free port, which takes everything. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const receiver: { behave: Behaviour } = { behave: () => ({ status: 200 }) };
  const server: Server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      const message = { headers: request.headers, body };
      received.push(message);
      const { status, body: text = '', waitMs = 0, location } = receiver.behave(message);
      void setTimeout(waitMs).then(() => {
        response.writeHead(status, location === undefined ? {} : { location });
        response.end(text);
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(receiver, {
    received,
    url: `http://127.0.0.1:${port}/hook`,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  });
}

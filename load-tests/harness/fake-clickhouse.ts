import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ServerFacts } from '../../clickhouse/server-facts.js';

/** A server that says of itself what a test wants. */
export type FakeClickHouse = {
  readonly url: string;
  /** What it was asked. */
  readonly asked: readonly string[];
  readonly close: () => Promise<void>;
};

/** What an ordinary server says of itself, but for the changes. */
export function factsWith(changes: Partial<ServerFacts>): ServerFacts {
  return {
    identity: '11111111-1111-1111-1111-111111111111/22222222-2222-2222-2222-222222222222',
    version: '26.7.2.1',
    database_engine: 'Atomic',
    other_engines: [],
    known_settings: [],
    ...changes,
  };
}

/** Answers the question which server it is, and everything else with "unknown setting" (115). */
export async function startFakeClickHouse(facts: ServerFacts): Promise<FakeClickHouse> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const text = `${request.url ?? ''} ${Buffer.concat(parts).toString('utf8')}`;
      asked.push(text);
      if (text.includes('known_settings')) {
        response.end(`${JSON.stringify(facts)}\n`);
        return;
      }
      response.statusCode = 404;
      response.setHeader('X-ClickHouse-Exception-Code', '115');
      response.end('Code: 115. DB::Exception: Unknown setting. (UNKNOWN_SETTING)');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/minutebook`,
    asked,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

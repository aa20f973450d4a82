import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import { atRate, saturate, type Target } from './drive.js';

const LOAD = { path: '/v1/events', eventsPerRequest: 1, connections: 4, seconds: 0.3 } as const;

async function withServer(
  answer: RequestListener,
  work: (target: Target) => Promise<void>,
): Promise<void> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => answer(request, response));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  try {
    await work({ port, host: '127.0.0.1', apiKey: 'none' });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Answers 202, and something else to every tenth request. */
function everyTenth(otherwise: RequestListener): RequestListener {
  let count = 0;
  return (request, response) => {
    count += 1;
    if (count % 10 === 0) otherwise(request, response);
    else response.writeHead(202).end();
  };
}

const refuse: RequestListener = (_, response) => void response.writeHead(503).end();
const hangUp: RequestListener = (request) => void request.socket.destroy();

describe('the load', () => {
  it('counts what was accepted', async () => {
    await withServer(
      (_, response) => void response.writeHead(202).end(),
      async (target) => {
        // Slow enough for a busy machine to keep the rate.
        const paced = await atRate(target, { ...LOAD, seconds: 2, requestsPerSecond: 2 });
        expect(paced.acceptedEvents).toBe(4);
        expect((await saturate(target, LOAD)).acceptedEvents).toBeGreaterThan(4);
      },
    );
  });

  it.each([
    ['a refused request', refuse, /× 503/],
    ['a lost connection', hangUp, /× 0/],
  ])('has no figures after %s', async (_, otherwise, counts) => {
    await withServer(everyTenth(otherwise), async (target) => {
      await expect(saturate(target, LOAD)).rejects.toThrow(counts);
      const paced = atRate(target, { ...LOAD, requestsPerSecond: 200 });
      await expect(paced).rejects.toThrow(counts);
    });
  });

  it('has no figures at a rate that was not sent', async () => {
    await withServer(
      (_, response) => void setTimeout(() => response.writeHead(202).end(), 100),
      async (target) => {
        const paced = atRate(target, { ...LOAD, requestsPerSecond: 200 });
        await expect(paced).rejects.toThrow(
          /200 requests a second were planned and \d+ sent: no figure/,
        );
      },
    );
  });
});

import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { brokerAddresses } from './ask-brokers.js';
import { describeTopic } from './describe-topic.js';

const closes: (() => void)[] = [];

afterEach(() => {
  for (const close of closes.splice(0)) close();
});

/** A peer on loopback that is no broker. */
async function listen(onConnection: (socket: Socket) => void): Promise<string> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    onConnection(socket);
  }).listen(0, '127.0.0.1');
  closes.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const TIMEOUT_MS = 300;
const ask = (brokers: string): Promise<unknown> =>
  describeTopic({ brokers, topic: 'any' }, TIMEOUT_MS);

const silent = (): Promise<string> => listen(() => undefined);
const closing = (): Promise<string> => listen((socket) => socket.end());
const garbling = (): Promise<string> =>
  listen((socket) => {
    socket.on('data', () => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'));
  });
/** Answers a request that nobody sent. */
const confusing = (): Promise<string> =>
  listen((socket) => {
    socket.on('data', () => socket.write(Buffer.from([0, 0, 0, 5, 0, 0, 0, 99, 0])));
  });

describe('broker addresses', () => {
  it.each([
    ['kafka-1:9092,kafka-2:9093', ['kafka-1:9092', 'kafka-2:9093']],
    [' kafka-1 , kafka-2 ', ['kafka-1:9092', 'kafka-2:9092']],
    ['[::1]:19092', ['::1:19092']],
  ])('reads %s', (text, expected) => {
    expect(brokerAddresses(text).map(({ host, port }) => `${host}:${port}`)).toEqual(expected);
  });
});

describe('a question to brokers of which none answers', () => {
  it.each([
    ['refuses connections', () => Promise.resolve('127.0.0.1:1'), 'ECONNREFUSED'],
    ['says nothing', silent, 'the broker did not answer in time'],
    ['closes the connection', closing, 'Connection closed'],
    ['speaks another protocol', garbling, 'the broker did not answer in time'],
    ['answers another request', confusing, 'Connection closed'],
  ] as const)('fails within its time when the broker %s', async (_name, start, reason) => {
    const brokers = await start();
    await expect(ask(brokers)).rejects.toMatchObject({
      name: 'DependencyError',
      isRetryable: true,
      message: expect.stringMatching(`none of the brokers ${brokers} answers: .*${reason}`),
    });
  });

  it('asks each of them in turn, and gives the reason of each', async () => {
    const brokers = `127.0.0.1:1,${await silent()},${await closing()}`;
    await expect(ask(brokers)).rejects.toThrow(
      /ECONNREFUSED.*; the broker did not answer in time; Connection closed/,
    );
  });
});

import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createOutboundAgents,
  isPublicAddress,
  isPublicHost,
  type OutboundAgents,
} from './guarded-agents.js';

describe('isPublicAddress', () => {
  test.each([
    ['93.184.215.14', true],
    ['2606:2800:21f:cb07:6820:80da:af6b:8b2c', true],
    ['127.0.0.1', false],
    ['127.1', false],
    ['0x7f000001', false],
    ['2130706433', false],
    ['0177.0.0.1', false],
    ['0.0.0.0', false],
    ['10.1.2.3', false],
    ['172.16.0.1', false],
    ['192.168.1.1', false],
    ['169.254.169.254', false],
    ['100.64.0.1', false],
    ['224.0.0.1', false],
    ['::1', false],
    ['[::1]', false],
    ['::ffff:127.0.0.1', false],
    ['::ffff:7f00:1', false],
    ['fd00::1', false],
    ['fe80::1', false],
    ['64:ff9b::7f00:1', false],
    ['64:ff9b:1::7f00:1', false],
    ['::127.0.0.1', false],
    ['::7f00:1', false],
    ['2002:7f00:1::', false],
    ['not an address', false],
  ])('%s: %s', (address, isPublic) => {
    expect(isPublicAddress(address)).toBe(isPublic);
  });
});

describe('isPublicHost', () => {
  test.each([
    ['hooks.example.com', true],
    ['Example.com.', true],
    ['93.184.215.14', true],
    ['[2606:2800:21f:cb07:6820:80da:af6b:8b2c]', true],
    ['internal.example.com', true],
    ['localhost', false],
    ['localhost.', false],
    ['LOCALHOST', false],
    ['foo.localhost', false],
    ['localhost.localdomain', false],
    ['ip6-localhost', false],
    ['metadata', false],
    ['metadata.google.internal', false],
    ['metadata.google.internal.', false],
    ['store.local', false],
    ['[::127.0.0.1]', false],
    ['[::1]', false],
    ['10.0.0.1', false],
  ])('%s: %s', (host, isPublic) => {
    expect(isPublicHost(host)).toBe(isPublic);
  });
});

describe('guarded agents', () => {
  let server: Server;
  let reached = 0;
  beforeAll(async () => {
    server = createServer((_request, response) => {
      reached += 1;
      response.end('reached');
    });
    await new Promise<void>((resolve) => server.listen(0, resolve));
  });
  afterAll(() => server.close());

  const ask = (agents: OutboundAgents, host: string): Promise<string> =>
    new Promise((resolve) => {
      const { port } = server.address() as AddressInfo;
      const asked = request(`http://${host}:${port}/`, { agent: agents.http }, (response) => {
        response.resume();
        response.on('end', () => resolve('connected'));
      });
      asked.on('error', (error) => resolve(error.name));
      asked.end();
    });

  test.each(['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1'])(
    'do not connect to %s',
    async (host) => {
      const agents = createOutboundAgents({ arePrivateTargetsAllowed: false });
      expect(await ask(agents, host)).not.toBe('connected');
      expect(reached).toBe(0);
    },
  );

  test('connect to it where the configuration allows it', async () => {
    const agents = createOutboundAgents({ arePrivateTargetsAllowed: true });
    expect(await ask(agents, '127.0.0.1')).toBe('connected');
  });
});

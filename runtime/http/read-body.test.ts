import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { readBody } from './read-body.js';
import { StallWatch } from './stall-watch.js';

const lease = { grow: () => true, release: () => undefined, hold: () => () => undefined };

describe.each([
  ['a plain', false],
  ['a compressed', true],
])('the reading of %s body', (_, isGzip) => {
  const options = { isGzip, bytesMax: 1_000, lease };

  it('ends at once when the client has left before', async () => {
    const request = new IncomingMessage(new Socket());
    request.on('error', () => undefined);
    request.destroy();
    await once(request, 'close');
    const read = readBody(request, { ...options, stalls: new StallWatch() });
    expect(await Promise.race([read, delay(500, 'nothing')])).toEqual({ kind: 'gone' });
  });

  it('ends when the client leaves', async () => {
    const request = new IncomingMessage(new Socket());
    const read = readBody(request, { ...options, stalls: new StallWatch() });
    request.destroy();
    expect(await Promise.race([read, delay(5_000, 'nothing')])).toEqual({ kind: 'gone' });
  });
});

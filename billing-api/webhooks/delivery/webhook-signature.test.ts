import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { secretOf, signatureHeader } from './webhook-signature.js';

describe('signatures', () => {
  const [first, second] = [secretOf(Buffer.alloc(32, 1)), secretOf(Buffer.alloc(32, 2))];
  const message = { id: 'evt_1', seconds: Math.floor(Date.now() / 1000), body: '{"a":"ü"}' };
  const headers = {
    'webhook-id': message.id,
    'webhook-timestamp': String(message.seconds),
    'webhook-signature': signatureHeader([first, second], message),
  };

  test.each([first, second])('are those that receivers check, of every live secret', (secret) => {
    expect(new Webhook(secret).verify(message.body, headers)).toEqual({ a: 'ü' });
  });

  test('are no longer right when anything is another', () => {
    const check = (body: string, changed: object = {}) =>
      new Webhook(first).verify(body, { ...headers, ...changed });
    expect(() => check('{"a":"u"}')).toThrow();
    expect(() => check(message.body, { 'webhook-id': 'evt_2' })).toThrow();
    const other = secretOf(Buffer.alloc(32, 3));
    expect(() => new Webhook(other).verify(message.body, headers)).toThrow();
  });
});

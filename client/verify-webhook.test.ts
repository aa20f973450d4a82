import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { verifyWebhook, WebhookRejected } from './verify-webhook.js';

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
const BODY = JSON.stringify({ event_type: 'customer.created', customer: { id: 'cust_1' } });
const NOW = Date.parse('2026-03-01T10:00:00Z');

/** As the public library signs a message. */
function signed(secret: string, at = NOW) {
  return {
    headers: {
      'webhook-id': 'sys_event_1',
      'webhook-timestamp': String(at / 1000),
      'webhook-signature': new Webhook(secret).sign('sys_event_1', new Date(at), BODY),
      'webhook-sequence': '7',
    },
    body: BODY,
  };
}

describe('verifyWebhook', () => {
  test('takes what the public library signs, and during a rotation either secret', () => {
    const event = { id: 'sys_event_1', sequence: 7, timestamp: NOW / 1000 };
    expect(verifyWebhook(signed(SECRET), SECRET, NOW)).toEqual({
      ...event,
      payload: JSON.parse(BODY) as unknown,
    });
    expect(verifyWebhook(signed(OTHER), [SECRET, OTHER], NOW)).toMatchObject(event);
    const { headers } = signed(SECRET);
    const both = `${headers['webhook-signature']} ${signed(OTHER).headers['webhook-signature']}`;
    const message = { headers: { ...headers, 'webhook-signature': both }, body: BODY };
    expect(verifyWebhook(message, OTHER, NOW)).toMatchObject(event);
  });

  test('rejects what is altered, old, unsigned or of somebody else', () => {
    const { headers } = signed(SECRET);
    const altered = { headers, body: BODY.replace('cust_1', 'cust_2') };
    expect(() => verifyWebhook(altered, SECRET, NOW)).toThrow(WebhookRejected);
    expect(() => verifyWebhook(signed(OTHER), SECRET, NOW)).toThrow('no signature');
    expect(() => verifyWebhook(signed(SECRET), SECRET, NOW + 301_000)).toThrow('too far');
    expect(() => verifyWebhook(signed(SECRET), SECRET, NOW - 301_000)).toThrow('too far');
    const bare = { headers: { ...headers, 'webhook-signature': undefined }, body: BODY };
    expect(() => verifyWebhook(bare, SECRET, NOW)).toThrow('webhook-signature is missing');
  });
});

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { WebhookPayloads } from './generated/webhooks.js';

/** What a message says: `event_type` tells which other members there are. */
export type WebhookPayload = WebhookPayloads[keyof WebhookPayloads];

/** A system event as endpoints receive it. */
export type WebhookEvent = {
  /** The same on every attempt: who has seen it has the event. */
  readonly id: string;
  /** Restores the order, without gaps; null for a test. */
  readonly sequence: number | null;
  /** When this attempt was made, in seconds. */
  readonly timestamp: number;
  readonly payload: WebhookPayload;
};

/** A message that is not from Minutebook, or too old. */
export class WebhookRejected extends Error {
  override readonly name: string = 'WebhookRejected';
}

export type WebhookMessage = {
  /** Names in lower case, as Node has them. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Exactly as it was received. */
  readonly body: string | Buffer;
};

/** So much may a message's time differ from ours. */
const TOLERANCE_S = 300;
const PREFIX = 'whsec_';

function headerOf({ headers }: WebhookMessage, name: string): string {
  const value = headers[name];
  if (typeof value !== 'string' || value === '') throw new WebhookRejected(`${name} is missing`);
  return value;
}

function isEqual(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/**
 * Checks the signature of a message by Standard Webhooks, and answers what it says.
 * @param secrets the secret of the endpoint, `whsec_…`; during a rotation both.
 * @throws WebhookRejected for a message that nobody with a secret has signed lately.
 */
export function verifyWebhook(
  message: WebhookMessage,
  secrets: string | readonly string[],
  now: number = Date.now(),
): WebhookEvent {
  const [id, time] = [headerOf(message, 'webhook-id'), headerOf(message, 'webhook-timestamp')];
  const timestamp = Number(time);
  if (!(Math.abs(now / 1000 - timestamp) <= TOLERANCE_S)) {
    throw new WebhookRejected(`webhook-timestamp ${time} is too far from now`);
  }
  const given = headerOf(message, 'webhook-signature').split(' ');
  const known = typeof secrets === 'string' ? [secrets] : secrets;
  const isSigned = known.some((secret) => {
    if (!secret.startsWith(PREFIX)) throw new TypeError(`a secret begins with ${PREFIX}`);
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
    const hmac = createHmac('sha256', key).update(`${id}.${time}.`).update(message.body);
    const expected = `v1,${hmac.digest('base64')}`;
    return given.some((signature) => isEqual(signature, expected));
  });
  if (!isSigned) throw new WebhookRejected('no signature is that of a secret');
  const sequence = message.headers['webhook-sequence'];
  return {
    id,
    timestamp,
    sequence: typeof sequence === 'string' ? Number(sequence) : null,
    // Signed by Minutebook, whose payloads have this form.
    payload: JSON.parse(message.body.toString()) as WebhookPayload,
  };
}

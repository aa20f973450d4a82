import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { formatInstant } from '../../../contract/instant.js';
import type { Clock } from '../../../runtime/clock.js';
import type { OutboundAgents } from '../../../runtime/guarded-agents.js';
import type { DeliveryAttempt } from '../../declarations/webhooks/webhook-delivery.resource.js';
import { signatureHeader } from './webhook-signature.js';

/** What is sent: the same bytes and the same id on every attempt. */
export type WebhookMessage = {
  readonly id: string;
  /** Null for a test. */
  readonly sequence: number | null;
  readonly body: string;
};

/** Where a message goes to, and the secrets that sign it. */
export type WebhookTarget = { readonly url: string; readonly secrets: readonly string[] };

/** How long a receiver may take to answer. */
const TIMEOUT_MS = 10_000;
/** So much of an answer is kept; more is not read. */
const EXCERPT_BYTES = 1_000;

async function excerptOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size >= EXCERPT_BYTES) break;
  }
  response.destroy();
  // A character that was cut, and zeros, which no text of PostgreSQL holds.
  return Buffer.concat(chunks)
    .subarray(0, EXCERPT_BYTES)
    .toString()
    .replaceAll('\0', '')
    .replace(/\uFFFD+$/, '');
}

type Answer = { readonly status: number; readonly excerpt: string };

function post(
  outbound: OutboundAgents,
  url: string,
  { headers, body }: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
): Promise<Answer> {
  const isSecure = url.startsWith('https:');
  return new Promise((resolve, reject) => {
    const options = {
      method: 'POST',
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
      agent: isSecure ? outbound.https : outbound.http,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    };
    const sent = (isSecure ? httpsRequest : httpRequest)(url, options, (response) => {
      // No redirect is followed: it is an answer like any other.
      excerptOf(response).then(
        (excerpt) => resolve({ status: response.statusCode ?? 0, excerpt }),
        reject,
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'the connection failed';
  const isLate = error.name === 'TimeoutError' || error.name === 'AbortError';
  return isLate ? `no answer within ${TIMEOUT_MS / 1000} s` : error.message.slice(0, 500);
}

/** How messages get out, and the clock of the machine, by which receivers go. */
export type Sender = { readonly outbound: OutboundAgents; readonly clock: Clock };

/** Sends a message once, and says what came of it; never throws. */
export async function sendMessage(
  { outbound, clock }: Sender,
  { url, secrets }: WebhookTarget,
  message: WebhookMessage,
): Promise<DeliveryAttempt> {
  const began = clock.now();
  const seconds = Math.floor(began / 1000);
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'minutebook-webhooks',
    'webhook-id': message.id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signatureHeader(secrets, { ...message, seconds }),
    ...(message.sequence === null ? {} : { 'webhook-sequence': String(message.sequence) }),
  };
  const outcome = await post(outbound, url, { headers, body: message.body }).then(
    ({ status, excerpt }) => ({ status_code: status, error: null, response_excerpt: excerpt }),
    (error: unknown) => ({ status_code: null, error: reasonOf(error), response_excerpt: null }),
  );
  return { at: formatInstant(began), duration_ms: clock.now() - began, ...outcome };
}

/** Whether a receiver has taken a message. */
export function isDelivered({ status_code: status }: DeliveryAttempt): boolean {
  return status !== null && status >= 200 && status < 300;
}

import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';

/** A secret as Standard Webhooks writes it, of random bytes. */
export function secretOf(bytes: Buffer): string {
  return `${PREFIX}${bytes.toString('base64')}`;
}

/** What one secret says of a message (Standard Webhooks, symmetric signatures). */
function signature(secret: string, message: string): string {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  return `v1,${createHmac('sha256', key).update(message).digest('base64')}`;
}

/** A message that is sent: its id, the unix seconds of the attempt, and its text. */
export type SignedMessage = {
  readonly id: string;
  readonly seconds: number;
  readonly body: string;
};

/** The header `webhook-signature`: one signature for each secret that is live. */
export function signatureHeader(
  secrets: readonly string[],
  { id, seconds, body }: SignedMessage,
): string {
  return secrets.map((secret) => signature(secret, `${id}.${seconds}.${body}`)).join(' ');
}

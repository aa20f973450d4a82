import { randomBytes } from 'node:crypto';
import type { SecretBox } from '../../../runtime/secret-box.js';
import type { WebhookEndpointRow } from '../../declarations/webhooks/webhook-endpoint.resource.js';
import { secretOf } from './webhook-signature.js';
import { Refusal } from '../../records/refusal.js';

const SECRET_BYTES = 32;

/** A new secret, as it is answered once and as it is kept. */
export type NewSecret = { readonly text: string; readonly sealed: Buffer };

/** Makes a secret; refused where nothing could keep it. */
export async function makeSecret(secretBox: SecretBox | null): Promise<NewSecret | Refusal> {
  if (secretBox === null) {
    const problem = 'no key is configured to keep secrets with: set MINUTEBOOK_SECRETS_KEY';
    return new Refusal('invalid_operation', problem);
  }
  const text = secretOf(randomBytes(SECRET_BYTES));
  return { text, sealed: await secretBox.seal(text) };
}

/** The secrets of an endpoint that sign at this instant of the machine. */
export async function liveSecrets(
  secretBox: SecretBox,
  row: Pick<WebhookEndpointRow, 'secret' | 'previous_secret' | 'previous_until'>,
  now: number,
): Promise<readonly string[]> {
  const { secret, previous_secret: previous, previous_until: until } = row;
  const isPreviousLive = previous !== null && (until ?? 0) > now;
  const sealed = isPreviousLive ? [secret, previous] : [secret];
  return Promise.all(sealed.map((one) => secretBox.open(one)));
}

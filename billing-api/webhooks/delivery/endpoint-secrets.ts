import { randomBytes } from 'node:crypto';
import type { Environment } from '../../../contract/environment.js';
import type { SecretBox, SecretPlace } from '../../../runtime/secret-box.js';
import {
  WEBHOOK_ENDPOINTS,
  type WebhookEndpointRow,
} from '../../declarations/webhooks/webhook-endpoint.resource.js';
import { secretOf } from './webhook-signature.js';
import { Refusal } from '../../records/refusal.js';

const SECRET_BYTES = 32;

/** A new secret, as it is answered once and as it is kept. */
export type NewSecret = { readonly text: string; readonly sealed: Buffer };

const placeOf = (environment: Environment, id: string): SecretPlace => ({
  ...environment,
  table: WEBHOOK_ENDPOINTS.table,
  id,
});

/** Makes the secret of an endpoint; refused where nothing could keep it. */
export async function makeSecret(
  secretBox: SecretBox | null,
  { environment, id }: { readonly environment: Environment; readonly id: string },
): Promise<NewSecret | Refusal> {
  if (secretBox === null) {
    const problem = 'no key is configured to keep secrets with: set MINUTEBOOK_SECRETS_KEY';
    return new Refusal('invalid_operation', problem);
  }
  const text = secretOf(randomBytes(SECRET_BYTES));
  return { text, sealed: await secretBox.seal(text, placeOf(environment, id)) };
}

/** The secrets of an endpoint that sign at this instant of the machine. */
export async function liveSecrets(
  secretBox: SecretBox,
  row: WebhookEndpointRow,
  now: number,
): Promise<readonly string[]> {
  const { secret, previous_secret: previous, previous_until: until } = row;
  const isPreviousLive = previous !== null && (until ?? 0) > now;
  const sealed = isPreviousLive ? [secret, previous] : [secret];
  const place = placeOf({ tenantId: row.tenant_id, environmentId: row.environment_id }, row.id);
  return Promise.all(sealed.map((one) => secretBox.open(one, place)));
}

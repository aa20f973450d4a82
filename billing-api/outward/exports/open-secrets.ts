import { assertPresent } from '../../../runtime/failure.js';
import type { SecretBox } from '../../../runtime/secret-box.js';
import {
  placeOfSecrets,
  type ConnectionRow,
  type S3Secrets,
} from '../../declarations/exports/connection.resource.js';

/** The secrets of a connection to a store. */
export async function openSecrets(
  { secretBox }: { readonly secretBox: SecretBox | null },
  connection: ConnectionRow,
): Promise<S3Secrets> {
  const box = assertPresent(secretBox, 'the key of secrets, MINUTEBOOK_SECRETS_KEY');
  // Sealed by an operation that had it as this type.
  return JSON.parse(await box.open(connection.secrets, placeOfSecrets(connection))) as S3Secrets;
}

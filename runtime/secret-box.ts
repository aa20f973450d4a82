import { hkdfSync } from 'node:crypto';
import { compactDecrypt, CompactEncrypt, decodeProtectedHeader, errors } from 'jose';
import { createSigner, type Signer } from './signer.js';

/** Where a secret is kept: it opens there only, so that nobody moves it to another row. */
export type SecretPlace = {
  readonly tenantId: string;
  readonly environmentId: string;
  readonly table: string;
  readonly id: string;
};

/** Keeps secrets of others, such as that of a store, unreadable in the database. */
export type SecretBox = {
  readonly seal: (text: string, place: SecretPlace) => Promise<Buffer>;
  /** @throws when it was sealed with another key or for another place, or was altered. */
  readonly open: (sealed: Buffer, place: SecretPlace) => Promise<string>;
  /** Signs with another key that is derived from the same text. */
  readonly signer: Signer;
};

const KEY_BYTES = 32;
const PURPOSE = 'minutebook: secrets of connections and endpoints';

function keyOf(configured: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', configured, '', PURPOSE, KEY_BYTES));
}

/** The place as the protected header has it: whoever alters it makes the secret unreadable. */
const placeText = ({ table, tenantId, environmentId, id }: SecretPlace): string =>
  [table, tenantId, environmentId, id].join(' ');

async function openWith(key: Uint8Array, sealed: Buffer, place: SecretPlace): Promise<string> {
  const { plaintext, protectedHeader } = await compactDecrypt(sealed.toString(), key);
  const { place: sealedFor } = protectedHeader;
  // Releases before this one sealed without a place.
  if (sealedFor !== undefined && sealedFor !== placeText(place)) {
    throw new Error(`the secret at ${placeText(place)} was sealed for another place`);
  }
  return new TextDecoder().decode(plaintext);
}

/** Whether a sealed secret says where it belongs; those of earlier releases do not. */
export function isBound(sealed: Buffer): boolean {
  return decodeProtectedHeader(sealed.toString())['place'] !== undefined;
}

/**
 * A box with this key: AES-256-GCM by JWE, with a key that is derived from the configured text. It
 * opens what was sealed with the previous one too, while secrets are sealed anew
 * (docs/operations.md 1.7).
 */
export function createSecretBox(configured: string, previous?: string): SecretBox {
  const key = keyOf(configured);
  const previousKey = previous === undefined ? null : keyOf(previous);
  return {
    signer: createSigner(configured, previous),
    seal: async (text, place) => {
      const sealing = new CompactEncrypt(new TextEncoder().encode(text));
      const header = { alg: 'dir', enc: 'A256GCM', place: placeText(place) };
      return Buffer.from(await sealing.setProtectedHeader(header).encrypt(key));
    },
    open: async (sealed, place) => {
      if (previousKey === null) return openWith(key, sealed, place);
      return openWith(key, sealed, place).catch((error: unknown) => {
        if (!(error instanceof errors.JWEDecryptionFailed)) throw error;
        return openWith(previousKey, sealed, place);
      });
    },
  };
}

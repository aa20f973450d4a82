import { hkdfSync } from 'node:crypto';
import { compactDecrypt, CompactEncrypt, errors } from 'jose';

/** Keeps secrets of others, such as that of a store, unreadable in the database. */
export type SecretBox = {
  readonly seal: (text: string) => Promise<Buffer>;
  /** @throws when it was sealed with another key, or was altered. */
  readonly open: (sealed: Buffer) => Promise<string>;
};

const KEY_BYTES = 32;
const PURPOSE = 'minutebook: secrets of connections and endpoints';

function keyOf(configured: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', configured, '', PURPOSE, KEY_BYTES));
}

async function openWith(key: Uint8Array, sealed: Buffer): Promise<string> {
  const { plaintext } = await compactDecrypt(sealed.toString(), key);
  return new TextDecoder().decode(plaintext);
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
    seal: async (text) => {
      const sealing = new CompactEncrypt(new TextEncoder().encode(text));
      const sealed = await sealing.setProtectedHeader({ alg: 'dir', enc: 'A256GCM' }).encrypt(key);
      return Buffer.from(sealed);
    },
    open: async (sealed) => {
      if (previousKey === null) return openWith(key, sealed);
      return openWith(key, sealed).catch((error: unknown) => {
        if (!(error instanceof errors.JWEDecryptionFailed)) throw error;
        return openWith(previousKey, sealed);
      });
    },
  };
}

import { hkdfSync } from 'node:crypto';
import { compactDecrypt, CompactEncrypt } from 'jose';

/** Keeps secrets of others, such as that of a store, unreadable in the database. */
export type SecretBox = {
  readonly seal: (text: string) => Promise<Buffer>;
  /** @throws when it was sealed with another key, or was altered. */
  readonly open: (sealed: Buffer) => Promise<string>;
};

const KEY_BYTES = 32;
const PURPOSE = 'minutebook: secrets of connections and endpoints';

/** A box with this key: AES-256-GCM by JWE, with a key that is derived from the configured text. */
export function createSecretBox(configured: string): SecretBox {
  const key = new Uint8Array(hkdfSync('sha256', configured, '', PURPOSE, KEY_BYTES));
  return {
    seal: async (text) => {
      const sealing = new CompactEncrypt(new TextEncoder().encode(text));
      const sealed = await sealing.setProtectedHeader({ alg: 'dir', enc: 'A256GCM' }).encrypt(key);
      return Buffer.from(sealed);
    },
    open: async (sealed) => {
      const { plaintext } = await compactDecrypt(sealed.toString(), key);
      return new TextDecoder().decode(plaintext);
    },
  };
}

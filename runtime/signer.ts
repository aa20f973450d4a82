import { createPrivateKey, createPublicKey, hkdfSync, sign, verify } from 'node:crypto';

/** Signs texts, so that whoever can change the database alone cannot make others. */
export type Signer = {
  /** With which anybody checks a signature: Ed25519, raw, in base64url. */
  readonly publicKey: string;
  /** Ed25519, in base64url. The same text has the same signature. */
  readonly sign: (text: string) => string;
  /** Whether this key, or the previous one, has signed the text. */
  readonly hasSigned: (text: string, signature: string) => boolean;
};

const PURPOSE = 'minutebook: anchors of the ledger';
const SEED_BYTES = 32;
/** What stands before the seed of a private Ed25519 key in PKCS #8 (RFC 8410). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

function keysOf(configured: string) {
  const seed = Buffer.from(hkdfSync('sha256', configured, '', PURPOSE, SEED_BYTES));
  const der = Buffer.concat([PKCS8_HEAD, seed]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  return { privateKey, publicKey: createPublicKey(privateKey) };
}

/** A signer with a key that is derived from the configured text. */
export function createSigner(configured: string, previous?: string): Signer {
  const own = keysOf(configured);
  const accepted = previous === undefined ? [own] : [own, keysOf(previous)];
  const { x: publicKey = '' } = own.publicKey.export({ format: 'jwk' });
  return {
    publicKey,
    sign: (text) => sign(null, Buffer.from(text), own.privateKey).toString('base64url'),
    hasSigned: (text, signature) =>
      accepted.some((one) =>
        verify(null, Buffer.from(text), one.publicKey, Buffer.from(signature, 'base64url')),
      ),
  };
}

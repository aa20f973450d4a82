import { describe, expect, it } from 'vitest';
import { createApiKey, displayIdOf, hashApiKey, isApiKey } from './api-key.js';

describe('an API key', () => {
  it('has its prefix and 40 random letters and digits', () => {
    expect(createApiKey('private_key')).toMatch(/^sk_[A-Za-z0-9]{40}$/);
    expect(createApiKey('publishable_key')).toMatch(/^pk_[A-Za-z0-9]{40}$/);
    const keys = Array.from({ length: 1_000 }, () => createApiKey('private_key'));
    expect(new Set(keys).size).toBe(1_000);
    expect(new Set(keys.join('').slice(3)).size).toBe(63);
  });

  it.each(['', 'sk_', `sk_${'a'.repeat(39)}`, `sk_${'a'.repeat(41)}`, `xk_${'a'.repeat(40)}`])(
    'is not %j',
    (text) => {
      expect(isApiKey(text)).toBe(false);
    },
  );

  it('shows its first five and last two characters', () => {
    expect(displayIdOf(`sk_ab${'x'.repeat(36)}yz`)).toBe('sk_ab***yz');
  });

  it('is stored as its SHA-256', () => {
    expect(hashApiKey('abc').toString('hex')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });
});

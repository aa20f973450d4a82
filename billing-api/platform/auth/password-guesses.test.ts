import { describe, expect, test } from 'vitest';
import { PasswordGuesses, type Guess } from './password-guesses.js';

const from = (clientAddress: string, email = 'kim@example.com'): Guess => ({
  email,
  clientAddress,
});

/** Guesses ten times, each from an address of its own. */
function guessTenTimes(guesses: PasswordGuesses): void {
  for (let index = 0; index < 10; index += 1) {
    expect(guesses.waitSeconds(from(`10.0.0.${index}`))).toBe(0);
    guesses.begin(from(`10.0.0.${index}`));
  }
}

describe('guesses of a password', () => {
  test('are ten in fifteen minutes for an account, from whatever addresses', () => {
    let now = 0;
    const guesses = new PasswordGuesses(() => now);
    guessTenTimes(guesses);
    now = 60_000;
    expect(guesses.waitSeconds(from('10.0.0.99', 'KIM@example.com'))).toBe(840);
    expect(guesses.waitSeconds(from('10.0.0.99', 'sam@example.com'))).toBe(0);
    now = 900_000;
    expect(guesses.waitSeconds(from('10.0.0.99'))).toBe(0);
    guessTenTimes(guesses);
  });

  test('by strangers do not keep out an address that signed in before, which is bounded itself', () => {
    const guesses = new PasswordGuesses(() => 0);
    guesses.begin(from('192.168.0.1'));
    guesses.noteRight(from('192.168.0.1'));
    guessTenTimes(guesses);
    expect(guesses.waitSeconds(from('10.0.0.1'))).toBe(900);
    for (let index = 0; index < 10; index += 1) {
      expect(guesses.waitSeconds(from('192.168.0.1'))).toBe(0);
      guesses.begin(from('192.168.0.1'));
    }
    expect(guesses.waitSeconds(from('192.168.0.1'))).toBe(900);
  });
});

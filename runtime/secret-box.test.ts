import { expect, test } from 'vitest';
import { createSecretBox } from './secret-box.js';

const KEY = 'a key for tests, of 32 characters at least';

test('what was sealed can be opened with the same key only, and not when it was altered', async () => {
  const box = createSecretBox(KEY);
  const sealed = await box.seal('geheim ✓');
  expect(sealed.toString()).not.toContain('geheim');
  expect(await box.open(sealed)).toBe('geheim ✓');
  await expect(createSecretBox(`${KEY}!`).open(sealed)).rejects.toThrow();
  const altered = Buffer.from(`${sealed.toString().slice(0, -2)}AA`);
  await expect(box.open(altered)).rejects.toThrow();
});

test('the same text is sealed otherwise each time', async () => {
  const box = createSecretBox(KEY);
  expect(await box.seal('x')).not.toEqual(await box.seal('x'));
});

test('a box with the previous key opens what either has sealed, and seals with the new one', async () => {
  const [old, next] = [createSecretBox(KEY), createSecretBox(`${KEY} 2`)];
  const both = createSecretBox(`${KEY} 2`, KEY);
  expect(await both.open(await old.seal('x'))).toBe('x');
  expect(await next.open(await both.seal('y'))).toBe('y');
  const other = await createSecretBox(`${KEY} 3`).seal('z');
  await expect(both.open(other)).rejects.toThrow();
});

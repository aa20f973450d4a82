import { expect, test } from 'vitest';
import { createSecretBox, isBound } from './secret-box.js';

const PLACE = { tenantId: 't', environmentId: 'e', table: 'connections', id: 'conn_1' };
const KEY = 'a key for tests, of 32 characters at least';

test('what was sealed can be opened with the same key only, and not when it was altered', async () => {
  const box = createSecretBox(KEY);
  const sealed = await box.seal('geheim ✓', PLACE);
  expect(sealed.toString()).not.toContain('geheim');
  expect(await box.open(sealed, PLACE)).toBe('geheim ✓');
  await expect(createSecretBox(`${KEY}!`).open(sealed, PLACE)).rejects.toThrow();
  const altered = Buffer.from(`${sealed.toString().slice(0, -2)}AA`);
  await expect(box.open(altered, PLACE)).rejects.toThrow();
});

test('the same text is sealed otherwise each time', async () => {
  const box = createSecretBox(KEY);
  expect(await box.seal('x', PLACE)).not.toEqual(await box.seal('x', PLACE));
});

test('a box with the previous key opens what either has sealed, and seals with the new one', async () => {
  const [old, next] = [createSecretBox(KEY), createSecretBox(`${KEY} 2`)];
  const both = createSecretBox(`${KEY} 2`, KEY);
  expect(await both.open(await old.seal('x', PLACE), PLACE)).toBe('x');
  expect(await next.open(await both.seal('y', PLACE), PLACE)).toBe('y');
  const other = await createSecretBox(`${KEY} 3`).seal('z', PLACE);
  await expect(both.open(other, PLACE)).rejects.toThrow();
});

test('what was sealed opens in its own row only; what earlier releases sealed opens in any', async () => {
  const box = createSecretBox(KEY);
  const sealed = await box.seal('x', PLACE);
  for (const other of [{ tenantId: 'u' }, { environmentId: 'f' }, { table: 'g' }, { id: 'h' }]) {
    await expect(box.open(sealed, { ...PLACE, ...other })).rejects.toThrow(/another place/);
  }
  // Sealed with KEY by a release that knew no places.
  const unbound = Buffer.from(
    'eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..g0HI-0iXiyfTOfxa.JJKV_a8tgfH-SOuX0A.dWi-WosjTFC4mMYgT4qhCQ',
  );
  expect([isBound(sealed), isBound(unbound)]).toEqual([true, false]);
  expect(await box.open(unbound, PLACE)).toBe('an old secret');
});

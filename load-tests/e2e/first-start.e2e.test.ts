import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { test } from '../harness/fixtures.js';
import { startStackIn } from '../harness/test-stack.js';

test(
  'the first API key counts as new until a start has shown it, also after a start that failed, and empty secrets of a full disk are made anew',
  { timeout: 300_000 },
  async ({ directory }) => {
    const occupied = join(directory, 'postgres');
    await writeFile(occupied, 'a file in the place of the folder');
    await expect(startStackIn(directory)).rejects.toThrow();
    await rm(occupied);
    await writeFile(join(directory, 'token-secret'), '');

    await expect(startStackIn(join(directory, 'token-secret', 'below'))).rejects.toThrow(
      /MINUTEBOOK_DATA_DIR: .* cannot be used \(ENOTDIR\): choose a directory/,
    );

    const second = await startStackIn(directory);
    expect(second.isNewKey).toBe(true);
    const headers = { 'x-api-key': second.apiKey };
    expect((await fetch(`${second.url}/v1/users/me`, { headers })).status).toBe(200);
    await second.noteKeyShown();
    await second.lifecycle.close();

    const third = await startStackIn(directory);
    expect([third.isNewKey, third.apiKey]).toEqual([false, second.apiKey]);
    await third.lifecycle.close();

    await writeFile(join(directory, 'first-api-key'), '');
    const fourth = await startStackIn(directory);
    expect(fourth.isNewKey).toBe(true);
    const other = { 'x-api-key': fourth.apiKey };
    expect((await fetch(`${fourth.url}/v1/users/me`, { headers: other })).status).toBe(200);
    await fourth.lifecycle.close();
  },
);

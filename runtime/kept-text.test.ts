import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { keptText, randomText } from './kept-text.js';
import { builtModule } from './project.js';

async function makeDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'minutebook-kept-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

test('a secret is made once, for its owner only, and leaves no other file behind', async () => {
  const directory = await makeDirectory();
  const made = await keptText(directory, 'secret', { create: randomText });
  expect(made).toMatchObject({ isNew: true, isMended: false });
  expect(made.text).toMatch(/^[0-9a-f]{48}$/);
  const known = await keptText(directory, 'secret', { create: randomText });
  expect(known).toEqual({ text: made.text, isNew: false, isMended: false });
  expect((await stat(join(directory, 'secret'))).mode & 0o777).toBe(0o600);
  expect(await readdir(directory)).toEqual(['secret']);
});

test('many who make it at once get the same one', async () => {
  const directory = await makeDirectory();
  const make = () => keptText(directory, 'secret', { create: randomText });
  const kept = await Promise.all(Array.from({ length: 30 }, make));
  expect(new Set(kept.map(({ text }) => text)).size).toBe(1);
  expect(await readdir(directory)).toEqual(['secret']);
});

test('an empty one is made anew', async () => {
  const directory = await makeDirectory();
  await writeFile(join(directory, 'secret'), '\n');
  const { text, isNew, isMended } = await keptText(directory, 'secret', {
    create: () => 'another',
  });
  expect([text, isNew, isMended]).toEqual(['another', true, true]);
  expect(await readFile(join(directory, 'secret'), 'utf8')).toBe('another');
});

test.for(['missing', 'empty'])(
  'one that is %s though it is in use is refused by name with the remedy',
  async (how) => {
    const directory = await makeDirectory();
    const path = join(directory, 'secret');
    if (how === 'empty') await writeFile(path, '');
    const keeping = { create: randomText, remedy: 'put it back' };
    await expect(keptText(directory, 'secret', keeping)).rejects.toThrow(
      `configuration: ${path} is ${how}: put it back`,
    );
  },
);

test('a disk that takes no byte leaves no file, is named, and the next start makes the secret', async () => {
  const directory = await makeDirectory();
  const program = `
    const { keptText, randomText } = await import(${JSON.stringify(builtModule('runtime/kept-text'))});
    try {
      await keptText(${JSON.stringify(directory)}, 'secret', { create: randomText });
    } catch (error) {
      console.error(error.name, error.message);
    }`;
  // No file may become longer than 0 bytes; the signal for that is ignored, as Node gets an error.
  const limited = `trap '' XFSZ; ulimit -f 0; exec "$0" --input-type=module -e "$1"`;
  const { stderr } = spawnSync('sh', ['-c', limited, process.execPath, program], {
    encoding: 'utf8',
  });
  expect(stderr).toContain(
    `ConfigError configuration: ${join(directory, 'secret')} cannot be written`,
  );
  expect(await readdir(directory)).toEqual([]);
  expect((await keptText(directory, 'secret', { create: randomText })).isNew).toBe(true);
});

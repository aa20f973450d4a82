import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../runtime/config.js';
import { messageOf } from '../../runtime/failure.js';
import { projectRoot } from '../../runtime/project.js';
import { inTestDirectory } from '../../load-tests/harness/test-directory.js';
import { loadRdKafka } from './rdkafka.js';

/** The error of a package of that name whose native part was never compiled. */
async function refusalOfUncompiled(directory: string): Promise<unknown> {
  const file = join(directory, 'index.mjs');
  const text = 'Could not locate the bindings file. Tried:\n → build/x.node\n → out/x.node';
  await writeFile(file, `throw new Error(${JSON.stringify(text)});`);
  return loadRdKafka(file).catch((error: unknown) => error);
}

const BUILD = 'npm rebuild node-rdkafka --ignore-scripts=false';

describe('the Kafka driver', () => {
  test('says what to install and build when it is missing', async () => {
    const refusal = loadRdKafka('node-rdkafka-that-is-not-installed');
    await expect(refusal).rejects.toThrow(ConfigError);
    await expect(refusal).rejects.toThrow(`run "npm install --include=optional" and "${BUILD}"`);
  });

  test('says in one line what to build when it is not compiled', async () => {
    await inTestDirectory(async (directory) => {
      const refusal = await refusalOfUncompiled(directory);
      expect(refusal).toBeInstanceOf(ConfigError);
      expect(messageOf(refusal)).toMatch(
        /^configuration: the Kafka client \S+ is not compiled \(Could not locate the bindings file\): run "npm rebuild .*$/,
      );
    });
  });

  test('is built by the same command when a command of the repository needs it', () => {
    const installer = readFileSync(join(projectRoot, 'cli/prepare/install.mjs'), 'utf8');
    const words = BUILD.split(' ').slice(1);
    expect(installer).toContain(words.map((word) => `'${word}'`).join(', '));
  });

  test('is refused when it is another package', async () => {
    await expect(loadRdKafka('node:path')).rejects.toThrow(ConfigError);
  });
});

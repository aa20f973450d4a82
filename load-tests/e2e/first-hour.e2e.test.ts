import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { walkThrough } from '../../cli/walk-through.js';
import { inTestDirectory } from '../harness/test-directory.js';
import { startStackIn } from '../harness/test-stack.js';

const run = promisify(execFile);

/** Quantity and amount of the first line of the last answer. */
function lineOf(output: string): readonly unknown[] {
  const answer = JSON.parse(output.trim().split('\n').at(-1) ?? '') as {
    readonly line_items: readonly { readonly quantity: string; readonly amount: string }[];
  };
  return [answer.line_items[0]?.quantity, answer.line_items[0]?.amount];
}

describe('what a newcomer does', () => {
  test('the walk-through ends with three calls for 0.75, also after a restart', async () => {
    await inTestDirectory(async (directory) => {
      const first = await startStackIn(directory);
      const script = walkThrough(first.url, first.apiKey);
      const { stdout } = await run('sh', ['-c', script]);
      expect(lineOf(stdout)).toEqual(['3', '0.75']);
      await first.lifecycle.close();

      const second = await startStackIn(directory);
      expect(second.apiKey).toBe(first.apiKey);
      const subscription = /^subs_\w+$/m.exec(stdout)?.[0] ?? '';
      const lastLine = script.trim().split('\n').at(-1)?.replaceAll(first.url, second.url) ?? '';
      const again = `KEY=${second.apiKey}; SUBS=${subscription}; ${lastLine}`;
      expect(lineOf((await run('sh', ['-c', again])).stdout)).toEqual(['3', '0.75']);
      await second.lifecycle.close();
    });
  });
});

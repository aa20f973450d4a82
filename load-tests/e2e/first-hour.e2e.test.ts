import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { walkThrough } from '../../cli/walk-through.js';
import { builtModule, projectRoot } from '../../runtime/project.js';
import { inTestDirectory } from '../harness/test-directory.js';
import { startStackIn } from '../harness/test-stack.js';

const run = promisify(execFile);

/** Lines for a shell, whose `npx minutebook` runs what is built without building anew. */
async function outputOf(script: string): Promise<string> {
  const command = `${process.execPath} ${builtModule('cli/minutebook')}`;
  // In CI the verbs write bold text even without a terminal.
  const env = { ...process.env, NO_COLOR: '1' };
  const lines = script.replaceAll('npx minutebook', command);
  return (await run('sh', ['-c', lines], { env })).stdout;
}

/** What a command that must fail writes as its last lines. */
async function refusalOf(script: string): Promise<string> {
  const failure = await outputOf(script).then(
    () => ({ stderr: 'it did not fail' }),
    (error: unknown) => error as { readonly stderr: string },
  );
  return failure.stderr.trim();
}

const TABLE = `line       quantity  unit amount  amount USD
────────────────────────────────────────────
API calls         3         0.25        0.75
Base fee          1           20       20.00
Total                                  20.75`;

describe('what a newcomer does', () => {
  test('ends with the table that the README shows', () => {
    expect(readFileSync(join(projectRoot, 'README.md'), 'utf8')).toContain(TABLE);
  });

  test('the walk-through ends with three calls for 0.75 and a verified invoice, also after a restart', async () => {
    await inTestDirectory(async (directory) => {
      const first = await startStackIn(directory);
      const script = walkThrough(first.url, first.apiKey);
      const output = await outputOf(script);
      expect(output).toContain('Invoice preview for Acme Inc.');
      expect(output).toContain(TABLE);
      expect(output).toContain('Event call-1 is counted\n');
      expect(output).toMatch(/^ {2}sent again {2}once; that counts nothing$/m);
      expect(output).toMatch(/^Invoice INV-\d{6}-00001, FINALIZED, for Acme Inc\./m);
      expect(output).toMatch(
        /^inv_\w+ {2}from inputs: same {2}from events: same {2}same as of \S+/m,
      );
      expect(output).toMatch(/ \d{4,} .*\/tmp\/invoice\.pdf$/m);
      await first.lifecycle.close();

      const second = await startStackIn(directory);
      expect(second.apiKey).toBe(first.apiKey);
      const subscription = /^subs_\w+$/m.exec(output)?.[0] ?? '';
      const at = `export MINUTEBOOK_URL=${second.url} MINUTEBOOK_DATA_DIR=${directory};`;
      const preview = `npx minutebook preview ${subscription} --group-by source`;
      const again = await outputOf(`${at} ${preview}; npx minutebook events --limit 2`);
      expect(again).toMatch(/^ {2}of docs +1 +33\.33 % +0\.25$/m);
      expect(again.match(/call-\d+ {2}api_call {2}acme$/gm)).toHaveLength(2);

      expect(await refusalOf(`${at} npx minutebook event call-9`)).toMatch(
        /^http:\S+ answers 404: /,
      );
      expect(await refusalOf(`${at} npx minutebook preview subs_x`)).toMatch(
        /^http:\S+ answers 404: /,
      );
      const verified = await outputOf(`${at} npx minutebook verify --all`);
      expect(verified).toContain('1 invoices verified, 0 different');
      const wrong = `${at} MINUTEBOOK_API_KEY=sk_wrong npx minutebook events`;
      expect(await refusalOf(wrong)).toMatch(
        /^http:\S+ refuses the API key \(.*MINUTEBOOK_API_KEY/,
      );
      await second.lifecycle.close();
    });
  });
});

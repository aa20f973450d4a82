import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Stack } from '../../cli/stack/stack.js';
import { projectRoot } from '../../runtime/project.js';
import { codeSamples } from '../harness/code-samples.js';
import { installClient, type ClientProject } from '../harness/install-client.js';
import { runnable } from '../harness/page-commands.js';
import { makeTestDirectory } from '../harness/test-directory.js';
import { startStackIn } from '../harness/test-stack.js';

const run = promisify(execFile);
const page = readFileSync(join(projectRoot, 'docs/start/quickstart.md'), 'utf8');
const hasPython = spawnSync('python3', ['--version']).status === 0;
const pythonNote = hasPython ? '' : ' (skipped: there is no python3)';
/** Python is compiled by none of our checks, so CI must run it. */
const mayLackPython = process.env['CI'] === undefined;

/** Blocks of code of the page in their order, each with what follows its three backticks. */
const blocks = [...page.matchAll(/^```([^\n]+)\n([\s\S]*?)^```$/gm)].map(
  ([, kind = '', code = '']) => ({ kind, code }),
);
const codeOf = (kind: string): readonly string[] =>
  blocks.filter((block) => block.kind === kind).map(({ code }) => code);

/** Matches a text that is shown with an ellipsis in the place of its end. */
function patternOf(shown: unknown): unknown {
  if (typeof shown === 'string' && shown.endsWith('…')) {
    return expect.stringMatching(new RegExp(`^${shown.slice(0, -1)}[0-9A-Z]{26}$`));
  }
  if (Array.isArray(shown)) return shown.map(patternOf);
  if (typeof shown !== 'object' || shown === null) return shown;
  const members = Object.entries(shown).map(([name, each]) => [name, patternOf(each)] as const);
  return expect.objectContaining(Object.fromEntries(members));
}

/** What else the package has, behind the steps of the page. */
const FURTHER = `
import { MinutebookError } from '@minutebook/client/errors';
import { verifyWebhook, type WebhookPayload } from '@minutebook/client/webhooks';

export function totalOf(payload: WebhookPayload): string | null {
  return payload.event_type === 'invoice.update.finalized' ? payload.invoice.total : null;
}
const failed = await minutebook.get('/customers/{id}', { path: { id: 'cust_none' } }).catch((error: unknown) => error);
if (!(failed instanceof MinutebookError) || failed.status !== 404) throw failed;
if (typeof verifyWebhook !== 'function') throw new Error('verifyWebhook is not there');
const names: string[] = [];
for await (const customer of minutebook.each('POST', '/customers/search', { body: {} })) {
  names.push(customer.name ?? '');
}
if (names.join() !== 'Acme Inc.') throw new Error('each gave ' + names.join());
`;

/** The samples of the reference, which compile beside the program and are not run. */
function samplesAsFunctions(): string {
  const sources = codeSamples('TypeScript').map(
    (source, index) => `export async function sample${index}() {\n${source}\n}`,
  );
  return sources.join('\n');
}

const answers = codeOf('json').map((text) => patternOf(JSON.parse(text)));

type World = { readonly stack: Stack; readonly directory: string; readonly client: ClientProject };

/** In CI the verbs write bold text even without a terminal. */
async function shell({ directory }: World, script: string): Promise<string> {
  const env = { ...process.env, NO_COLOR: '1', MINUTEBOOK_DATA_DIR: directory };
  return (await run('sh', ['-c', runnable(script)], { env, maxBuffer: 1e8 })).stdout;
}

/** Each language follows the page from its start, with a tenant of its own. */
async function newTenantKey(world: World, name: string): Promise<string> {
  return (await shell(world, `npx minutebook tenants create ${name}`)).trim();
}

/** The first block, as somebody pastes it with an address and a key of their own. */
function startOf({ stack }: World, key: string): string {
  const [start = ''] = codeOf('sh');
  const pasted = start.replace('http://127.0.0.1:8080', stack.url).replace('sk_…', key);
  expect(pasted).toContain(`MINUTEBOOK_API_KEY=${key}`);
  return pasted;
}

function expectAnswers(output: string): void {
  const lines = output.trim().split('\n');
  const said = lines.map((line) => JSON.parse(line) as unknown);
  expect(said).toEqual(answers);
}

describe('the quickstart ends with a finalized invoice of three calls, answered as the page shows', () => {
  let world: World;
  let close: () => Promise<void>;

  beforeAll(async () => {
    const directory = await makeTestDirectory();
    const folder = await makeTestDirectory();
    const [stack, client] = await Promise.all([
      startStackIn(directory.path),
      installClient(folder.path),
    ]);
    world = { stack, directory: directory.path, client };
    close = async () => {
      await stack.lifecycle.close();
      await Promise.all([directory.remove(), folder.remove()]);
    };
  }, 300_000);

  afterAll(() => close());

  test('the page shows an answer for each step, and the same steps in all three', () => {
    const steps = codeOf('sh [curl]').length;
    expect(steps).toBeGreaterThan(8);
    expect(codeOf('ts [TypeScript]')).toHaveLength(steps);
    expect(codeOf('python [Python]')).toHaveLength(steps);
    // The first step of each prepares; the last has two answers.
    expect(answers).toHaveLength(steps);
  });

  test('curl', async () => {
    const samples = codeSamples('curl').join('\n');
    expect(spawnSync('sh', ['-n'], { input: samples, encoding: 'utf8' }).stderr).toBe('');
    const script = [startOf(world, world.stack.apiKey), ...codeOf('sh [curl]')];
    expectAnswers(await shell(world, script.join('\n')));
  });

  test('TypeScript, with the client as a package in a strict program', async () => {
    const program = `${codeOf('ts [TypeScript]').join('\n')}\n${FURTHER}`;
    const mistakes = program
      .replace("aggregation: { type: 'COUNT' }", "agregation: { type: 'COUNT' }")
      .replace('payload.invoice.total', 'payload.wallet');
    await expect(world.client.compile(mistakes)).rejects.toThrow(/agregation[^]*wallet/);
    await world.client.compile(`${program}\n${samplesAsFunctions()}`);
    const start = startOf(world, await newTenantKey(world, 'TypeScript'));
    expectAnswers(await shell(world, `${start}\n${process.execPath} ${world.client.program}`));
  });

  test.skipIf(!hasPython && mayLackPython)(`Python${pythonNote}`, async () => {
    const program = join(world.directory, 'quickstart.py');
    const samples = JSON.stringify(codeSamples('Python'));
    const check = 'import ast, json, sys; [ast.parse(each) for each in json.load(sys.stdin)]';
    const checked = spawnSync('python3', ['-c', check], { input: samples, encoding: 'utf8' });
    expect(checked.stderr).toBe('');
    await writeFile(program, codeOf('python [Python]').join('\n'));
    const start = startOf(world, await newTenantKey(world, 'Python'));
    expectAnswers(await shell(world, `${start}\npython3 ${program}`));
  });
});

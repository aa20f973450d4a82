import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { projectRoot } from '../runtime/project.js';

const IMPORTS_MAX = 12;
const FILES_MAX = 20;
const PRODUCTION = [
  'aggregator',
  'billing-api',
  'cli',
  'clickhouse',
  'contract',
  'event-log',
  'ingest',
  'runtime',
  'sql',
];

/** They put programs together, so they know all the parts. */
const COMPOSITION_ROOTS: ReadonlySet<string> = new Set([
  'aggregator/aggregator.ts',
  'aggregator/main.ts',
  'billing-api/app.ts',
  'billing-api/ioc.ts',
  'billing-api/main.ts',
  'cli/demo/demo-verb.ts',
  'cli/minutebook.ts',
  'clickhouse/embedded.ts',
  'ingest/open-ingest.ts',
  'sql/embedded.ts',
]);

const IMPORT = /^(?:import|export)\b[^;]*? from '/gm;

/** Production files: no tests, no harness of tests, nothing generated. */
function productionFiles(): readonly string[] {
  return PRODUCTION.flatMap((folder) =>
    readdirSync(join(projectRoot, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
      .map((entry) => relative(projectRoot, join(entry.parentPath, entry.name)))
      .filter((file) => !/\.test\.ts$|\/(testing|generated|node_modules)\//.test(file)),
  );
}

const importsOf = (text: string): number => text.match(IMPORT)?.length ?? 0;

describe('the layout', () => {
  const files = productionFiles();

  test('counts imports over several lines, of types and of exports', () => {
    const text = "import a from 'a';\nimport type {\n  B,\n} from 'b';\nexport { c } from 'c';\n";
    expect(importsOf(text)).toBe(3);
    expect(files).toContain('cli/stack.ts');
  });

  test('has no file with more than 12 imports, composition roots apart', () => {
    const excess = files
      .filter((file) => !COMPOSITION_ROOTS.has(file))
      .map((file) => [file, importsOf(readFileSync(join(projectRoot, file), 'utf8'))] as const)
      .filter(([, imports]) => imports > IMPORTS_MAX);
    expect(Object.fromEntries(excess)).toEqual({});
  });

  test('has no folder with more than 20 production files', () => {
    const counts = new Map<string, number>();
    for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
    expect([...counts].filter(([, count]) => count > FILES_MAX)).toEqual([]);
  });
});

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { projectRoot } from '../runtime/project.js';

/** Where folders stand in an order (docs/internals/style.md 2), and at least how many there are. */
const FOLDERS = [
  ['aggregator', 6],
  ['billing-api', 6],
  ['cli', 6],
  ['contract', 4],
  ['event-log', 4],
  ['ingest', 4],
  ['sql', 3],
] as const;

/** Relative modules of imports and exports, of types too. */
const IMPORTED = /(?:from|import\()\s*'(\.[^']+)'/g;

type Folders = ReadonlyMap<string, ReadonlySet<string>>;

function importedBy(file: string): readonly string[] {
  const text = readFileSync(join(projectRoot, file), 'utf8');
  return [...text.matchAll(IMPORTED)].map(([, path = '']) => normalize(join(dirname(file), path)));
}

/** Production files: no tests, no harness of tests, nothing generated. */
function productionFiles(program: string): readonly string[] {
  return readdirSync(join(projectRoot, program), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(projectRoot, join(entry.parentPath, entry.name)))
    .filter((file) => !/\.test\.ts$|\/(testing|generated)\//.test(file));
}

function isBelow(folder: string, program: string): boolean {
  return folder === program || folder.startsWith(`${program}/`);
}

/** By folder the other folders of its program that its own files import from. */
function foldersOf(program: string): Folders {
  const folders = new Map<string, Set<string>>();
  for (const file of productionFiles(program)) {
    const folder = dirname(file);
    const known = folders.get(folder) ?? new Set();
    folders.set(folder, known);
    for (const imported of importedBy(file).map((path) => dirname(path))) {
      if (imported !== folder && isBelow(imported, program)) known.add(imported);
    }
  }
  return folders;
}

/**
 * The folders of every circle, and those that know one of them. What knows nobody is taken away,
 * then what knew only that, until nothing changes: what is left cannot be put into an order.
 */
function withoutOrder(folders: Folders): readonly string[] {
  let left = [...folders.keys()];
  for (;;) {
    const present = new Set(left);
    const next = left.filter((folder) =>
      [...(folders.get(folder) ?? [])].some((known) => present.has(known)),
    );
    if (next.length === left.length) return next.sort();
    left = next;
  }
}

describe('the layout', () => {
  test('notices a circle of three folders, and nothing where there is an order', () => {
    const order = new Map([
      ['a', new Set(['b', 'c'])],
      ['b', new Set(['c'])],
      ['c', new Set<string>()],
    ]);
    expect(withoutOrder(order)).toEqual([]);
    expect(withoutOrder(new Map([...order, ['c', new Set(['a'])]]))).toEqual(['a', 'b', 'c']);
  });

  test.each(FOLDERS)('has no circle between folders of %s, types included', (program, least) => {
    const folders = foldersOf(program);
    expect(folders.size).toBeGreaterThanOrEqual(least);
    expect(withoutOrder(folders)).toEqual([]);
  });
});

import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../../runtime/project.js';
import type { Edit, Mutation } from './mutation.js';

const COPIED = [
  ...['dist', 'package.json', 'sql/migrations', 'sql/queries'],
  ...['clickhouse/migrations', 'clickhouse/queries'],
];

function occurrences(text: string, fragment: string): number {
  return text.split(fragment).length - 1;
}

/** The file that an edit means: of a folder of migrations the last word counts. */
function findFile(root: string, { path, from }: Edit): string {
  const place = join(root, path);
  if (statSync(place).isFile()) return place;
  const files = readdirSync(place)
    .sort()
    .map((name) => join(place, name));
  const file = files.findLast((name) => readFileSync(name, 'utf8').includes(from));
  if (file === undefined) throw new Error(`${path}: no file holds "${from}"`);
  return file;
}

/** @throws Error unless the fragment is there exactly once: the mutation must follow the code. */
export function applyEdit(root: string, edit: Edit): void {
  const file = findFile(root, edit);
  const text = readFileSync(file, 'utf8');
  const times = occurrences(text, edit.from);
  if (times !== 1) throw new Error(`${edit.path}: ${times} times, not once: "${edit.from}"`);
  writeFileSync(
    file,
    text.replace(edit.from, () => edit.to),
  );
}

/** A copy of the build with the mutation in it. */
export type MutatedBuild = { readonly root: string; remove(): void };

/**
 * Copies what programs run from and edits the copy.
 * @throws Error when a fragment is not there exactly once.
 */
export function makeMutatedBuild(mutation: Mutation): MutatedBuild {
  const root = mkdtempSync(join(tmpdir(), 'minutebook-mutation-'));
  const remove = (): void => {
    rmSync(root, { recursive: true, force: true });
  };
  try {
    for (const path of COPIED) {
      cpSync(join(projectRoot, path), join(root, path), { recursive: true });
    }
    symlinkSync(join(projectRoot, 'node_modules'), join(root, 'node_modules'));
    for (const edit of mutation.edits) applyEdit(root, edit);
    return { root, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

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
import type { Edit } from './mutation.js';

function occurrences(text: string, fragment: string): number {
  return text.split(fragment).length - 1;
}

/** The file that an edit changes; in a folder of migrations the last one with the fragment. */
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

/**
 * The texts of the edited files after all edits, by path; nothing is written.
 * @throws Error unless each fragment is there exactly once: mutations must follow the code.
 */
export function editedTexts(root: string, edits: readonly Edit[]): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const edit of edits) {
    const { path, from, to } = edit;
    if (from === to) throw new Error(`${path}: the edit changes nothing`);
    const file = findFile(root, edit);
    const text = texts.get(file) ?? readFileSync(file, 'utf8');
    const times = occurrences(text, from);
    if (times !== 1) throw new Error(`${path}: ${times} times, not once: "${from}"`);
    texts.set(
      file,
      text.replace(from, () => to),
    );
  }
  return texts;
}

/** A copy of a part of the project in a folder of its own. */
export type MutatedCopy = { readonly root: string; remove(): void };

/**
 * Copies files and folders of the project and edits the copy; packages are shared.
 * @throws Error when a fragment is not there exactly once.
 */
export function makeMutatedCopy(paths: readonly string[], edits: readonly Edit[]): MutatedCopy {
  const root = mkdtempSync(join(tmpdir(), 'minutebook-mutation-'));
  const remove = (): void => {
    rmSync(root, { recursive: true, force: true });
  };
  try {
    for (const path of paths) {
      cpSync(join(projectRoot, path), join(root, path), { recursive: true });
    }
    symlinkSync(join(projectRoot, 'node_modules'), join(root, 'node_modules'));
    for (const [file, text] of editedTexts(root, edits)) writeFileSync(file, text);
    return { root, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Does work in a mutated copy, which is removed afterwards. @throws the same errors. */
export async function inMutatedCopy<T>(
  paths: readonly string[],
  edits: readonly Edit[],
  work: (root: string) => Promise<T>,
): Promise<T> {
  const copy = makeMutatedCopy(paths, edits);
  try {
    return await work(copy.root);
  } finally {
    copy.remove();
  }
}

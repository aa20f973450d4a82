import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MigrationRefused } from '../runtime/migrations.js';
import { projectRoot, releaseVersion } from '../runtime/project.js';

/**
 * One file of `sql/functions`: a function with its rights and its triggers, or a view, under its
 * name. Its text may be applied again and again.
 */
export type SchemaFunction = {
  readonly name: string;
  readonly text: string;
  /** SHA-256 of the file, hexadecimal. */
  readonly checksum: string;
};

/** What a database notes of a file, and the release that has applied it last. */
type NotedFunction = {
  readonly name: string;
  readonly checksum: string;
  readonly release: string;
};

export const FUNCTIONS_FOLDER = join(projectRoot, 'sql', 'functions');

const NAME = /^([a-z][a-z0-9_]*)\.sql$/;

function readFunction(folder: string, file: string): SchemaFunction {
  const name = NAME.exec(file)?.[1];
  if (name === undefined) {
    throw new MigrationRefused(`${join(folder, file)} must have the name of its function`);
  }
  const text = readFileSync(join(folder, file), 'utf8');
  return { name, text, checksum: createHash('sha256').update(text).digest('hex') };
}

const wordsOf = (text: string): ReadonlySet<string> =>
  new Set(text.replaceAll(/--.*$/gm, '').match(/\w+/g));

/** Each behind those that it names. */
function inOrder(functions: readonly SchemaFunction[]): readonly SchemaFunction[] {
  const words = new Map(functions.map(({ name, text }) => [name, wordsOf(text)]));
  const ordered: SchemaFunction[] = [];
  let left = functions;
  while (left.length > 0) {
    const isReady = ({ name }: SchemaFunction): boolean =>
      left.every((other) => other.name === name || words.get(name)?.has(other.name) !== true);
    const ready = left.filter(isReady);
    if (ready.length === 0) {
      const names = left.map(({ name }) => name).join(', ');
      throw new MigrationRefused(`functions that name each other have no order: ${names}`);
    }
    ordered.push(...ready);
    left = left.filter((one) => !ready.includes(one));
  }
  return ordered;
}

/**
 * The functions of a folder, each behind those that it names; none where there is no folder.
 * @throws MigrationRefused when there is no such order.
 */
export function readFunctions(folder: string): readonly SchemaFunction[] {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder).filter((file) => file.endsWith('.sql'));
  return inOrder(files.sort().map((file) => readFunction(folder, file)));
}

const isLater = (release: string, other: string): boolean =>
  release.localeCompare(other, 'en', { numeric: true }) > 0;

/**
 * The functions that remain to be applied, in order. Those that a later release has applied stay as
 * they are, because an older release may start beside a newer one during a rolling update.
 */
export function pendingFunctions(
  functions: readonly SchemaFunction[],
  noted: readonly NotedFunction[],
): readonly SchemaFunction[] {
  const byName = new Map(noted.map((one) => [one.name, one]));
  return functions.filter(({ name, checksum }) => {
    const before = byName.get(name);
    if (before === undefined) return true;
    return before.checksum !== checksum && !isLater(before.release, releaseVersion());
  });
}

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pagesOf } from '../load-tests/harness/pages.js';
import { projectRoot } from '../runtime/project.js';

/** Folders without sources of ours, or whose files are made by a program. */
const SKIPPED = new Set([
  'node_modules',
  'dist',
  'generated',
  'results',
  '.git',
  '.data',
  '.cache',
]);
const CITING = /\.(ts|mjs|cjs|js|sql|json|py|md)$/;
/** Pages that speak of file names as examples, or that name files which are gone. */
const SPEAKING_OF_NAMES = new Set(
  ['style', 'glossary', 'specification'].map((name) => `docs/internals/${name}.md`),
);
const THIS_FILE = 'docs/citations.test.ts';

type Source = { readonly path: string; readonly text: string };

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (SKIPPED.has(entry.name)) return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

function readSources(): readonly Source[] {
  return filesBelow(projectRoot)
    .filter((path) => CITING.test(path) && basename(path) !== 'package-lock.json')
    .map((path) => ({ path: relative(projectRoot, path), text: readFileSync(path, 'utf8') }))
    .filter(({ path }) => path !== THIS_FILE);
}

/** Pages that are the index of numbered sections, which stand on the pages of a folder. */
const INDEXES: Readonly<Record<string, string>> = {
  'docs/domain.md': 'rules',
  'docs/operations.md': 'operators',
};

/**
 * Pages by their file name, without the folder, as citations name them. A page may have moved since
 * a migration cited it, and the text of a released migration never changes.
 */
const PATHS = new Map(
  filesBelow(join(projectRoot, 'docs'))
    .map((path) => relative(projectRoot, path))
    .filter((path) => path.endsWith('.md'))
    .map((path) => [basename(path), path] as const),
);

function readPages(page: string): string {
  const folder = INDEXES[page];
  if (folder !== undefined)
    return pagesOf(folder)
      .map(({ text }) => text)
      .join('\n');
  const path = join(projectRoot, page);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

/** The page that a path is cited as: the index of its folder, or itself. */
function citedAs(path: string): string {
  const found = Object.entries(INDEXES).find(([, folder]) => dirname(path) === `docs/${folder}`);
  return found?.[0] ?? path;
}

/** The numbers at the beginning of headings: `7.8`, `I5`, `D-014`. */
function numbersOf(page: string): ReadonlySet<string> {
  const text = readPages(page);
  const headings = text.matchAll(/^#+ (\d+(?:\.\d+)*|I\d|D-\d{3})\b/gm);
  return new Set([...headings].map(([, number]) => number ?? ''));
}

const sources = readSources();
const pages = sources.filter(({ path }) => path.endsWith('.md'));
const headings = new Map<string, ReadonlySet<string>>();

function hasHeading(page: string, number: string): boolean {
  const numbers = headings.get(page) ?? numbersOf(page);
  headings.set(page, numbers);
  return numbers.has(number);
}

const GAP = '(?:[ \\t]|\\r?\\n[ \\t]*(?:\\*|//|--|#)?[ \\t]*)+';
const ONE = '(?:\\d+(?:\\.\\d+)*|I\\d)(?![\\w%])';
const LIST = `${ONE}(?:(?:–|(?:,|,? (?:and|to|or))${GAP})${ONE})*`;

type Citation = { readonly path: string; readonly page: string; readonly number: string };

/**
 * Citations of sections: `docs/domain.md 7.8`, also over the end of a line of a comment, also
 * `7.8, 7.9 and 10.2`. Pages below docs/ may leave the folder out, may be links, and name their own
 * sections as `section 7.8`.
 */
function citationsIn({ path, text }: Source): readonly Citation[] {
  const isPage = path.startsWith('docs/');
  const folder = '(?:[\\w-]+/)*';
  const page = `${isPage ? '' : 'docs/'}${folder}([\\w-]+\\.md)[\`)\\]]*${GAP}(?:sections?${GAP})?`;
  const own = isPage ? `|(?<![\\w.)])sections? ` : '';
  const found = text.matchAll(new RegExp(`(?:${page}${own})(${LIST})`, 'g'));
  return [...found].flatMap(([, name, numbers = '']) =>
    [...numbers.matchAll(new RegExp(ONE, 'g'))].map(([number]) => ({
      path,
      page: name === undefined ? citedAs(path) : (PATHS.get(name) ?? `docs/${name}`),
      number,
    })),
  );
}

/** Lines of `path: text` for every match, so that a failure says where to look. */
function placesOf(pattern: RegExp, among: readonly Source[]): readonly string[] {
  return among.flatMap(({ path, text }) =>
    [...text.matchAll(pattern)].map(([match]) => `${path}: ${match.trim()}`),
  );
}

describe('citations', () => {
  it('name a section that exists', () => {
    const cited = sources.flatMap(citationsIn);
    const missing = cited.filter(({ page, number }) => !hasHeading(page, number));
    expect(missing.map(({ path, page, number }) => `${path}: ${page} ${number}`)).toEqual([]);
    // Hundreds of comments cite a section: finding few would mean that this test looks wrongly.
    expect(cited.length).toBeGreaterThan(200);
  });

  it('name a decision that exists', () => {
    const cited = placesOf(/\bD-\d{3}\b/g, sources);
    const missing = cited.filter(
      (place) => !hasHeading('docs/internals/architecture.md', place.slice(-'D-000'.length)),
    );
    expect(missing).toEqual([]);
    expect(cited.length).toBeGreaterThan(10);
  });

  it('are of pages in this repository, by their path', () => {
    const elsewhere = /\b(api|house-style|performance|dependencies)\.md\b|\bhouse style \d/gi;
    expect(placesOf(elsewhere, sources)).toEqual([]);
    const outside = sources.filter(({ path }) => !path.startsWith('docs/'));
    const withoutFolder =
      /(?<![\w/])(domain|http|architecture|operations|style|glossary|specification)\.md\b/gi;
    expect(placesOf(withoutFolder, outside)).toEqual([]);
    expect(placesOf(/\b(architecture|invariant) I\d\b|\(I\d\)/g, outside)).toEqual([]);
  });
});

describe('Markdown pages', () => {
  it('link to files that exist', () => {
    const missing = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/\]\(([^)#\s:]+)(?:#[^)]*)?\)/g)]
        .map(([, target = '']) => target)
        .filter((target) => !existsSync(join(projectRoot, dirname(path), target)))
        .map((target) => `${path}: ${target}`),
    );
    expect(missing).toEqual([]);
  });

  it('name files that exist, by the path from their own folder or from the root', () => {
    const missing = pages
      .filter(({ path }) => !SPEAKING_OF_NAMES.has(path))
      .flatMap(({ path, text }) =>
        [...text.matchAll(/`([\w.-]+(?:\/[\w.-]+)*\.(?:ts|mjs|cjs|sql|json|md|py))`/g)]
          .map(([, name = '']) => name)
          .filter((name) => {
            const places = [join(projectRoot, dirname(path), name), join(projectRoot, name)];
            return !places.some((place) => existsSync(place));
          })
          .map((name) => `${path}: ${name}`),
      );
    expect(missing).toEqual([]);
  });

  it('name tables that exist', () => {
    const migrations = sources.filter(({ path }) => /^(clickhouse|sql)\/migrations\//.test(path));
    const definitions = migrations.map(({ text }) => text).join('\n');
    const named = pages
      .filter(({ path }) => !SPEAKING_OF_NAMES.has(path))
      .flatMap(({ path, text }) =>
        [...text.matchAll(/`([a-z_]+_v\d)\b/g)].map(([, table = '']) => ({ path, table })),
      );
    const missing = named.filter(({ table }) => !new RegExp(`\\b${table}\\b`).test(definitions));
    expect(missing).toEqual([]);
    expect(named.length).toBeGreaterThan(10);
  });
});

import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { docstringSentences, languageOf, sentencesIn } from '../load-tests/harness/sentences.js';
import { projectRoot } from '../runtime/project.js';

const MEAN_MAX = 20;
const SENTENCE_MAX = 40;
/** What a program makes, what is not ours, and the text that the service was built to. */
const SKIPPED = /(?:^|\/)(?:node_modules|dist|generated|results|\.\w+)(?:\/|$)/;
const GIVEN = 'docs/internals/specification.md';

type Debt = { readonly mean: number; readonly long: number };

/**
 * Pages that are still to be rewritten: their mean, and how many of their sentences are too long.
 * They may only become better; a page that keeps the limits must leave the list.
 */
const DEBTS = JSON.parse(
  readFileSync(join(projectRoot, 'docs/sentences-to-mend.json'), 'utf8'),
) as Readonly<Record<string, Debt>>;

function filesBelow(folder: string, ending: RegExp): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (SKIPPED.test(relative(projectRoot, path))) return [];
    if (entry.isDirectory()) return filesBelow(path, ending);
    return ending.test(entry.name) ? [relative(projectRoot, path)] : [];
  });
}

const pages = filesBelow(projectRoot, /\.md$/).filter((path) => path !== GIVEN);
const sources = filesBelow(projectRoot, /(?<!\.test|\.d)\.tsx?$/);
const read = (path: string) => readFileSync(join(projectRoot, path), 'utf8');

const measured = pages.map((path) => {
  const { meanWords, sentences } = languageOf(read(path));
  return {
    path,
    mean: Math.ceil(meanWords * 10) / 10,
    long: sentences.filter(({ words }) => words > SENTENCE_MAX).map(({ text }) => text),
  };
});

describe('sentences', () => {
  it('are told apart: full stops end them, and not those of numbers or code', () => {
    const text = 'A line is 1.50. It has `a. B` in it; so it is one sentence. (This is another.)';
    expect(sentencesIn(text)).toEqual([
      'A line is 1.50.',
      'It has code in it; so it is one sentence.',
      '(This is another.)',
    ]);
    const page = '# Title\n\nOne two\nthree.\n\n- Four.\n- Five six.\n\n| seven | eight |\n';
    expect(languageOf(page).meanWords).toBe(2);
    expect(languageOf(page).sentences.map(({ words }) => words)).toEqual([3, 1, 2, 1, 1]);
    expect(docstringSentences('/** One. Two three. */\nexport const x = 1;')).toHaveLength(2);
  });

  it(`of a page have at most ${MEAN_MAX} words on average, and ${SENTENCE_MAX} each`, () => {
    const worse = measured.flatMap(({ path, mean, long }) => {
      const allowed = DEBTS[path] ?? { mean: MEAN_MAX, long: 0 };
      return [
        ...(mean > allowed.mean ? [`${path}: mean ${mean}, allowed ${allowed.mean}`] : []),
        ...(long.length > allowed.long ? long.map((text) => `${path}: ${text}`) : []),
      ];
    });
    expect(worse).toEqual([]);
    expect(pages.length).toBeGreaterThan(50);
  });

  it('of pages that are still to be mended have become better, or are mended', () => {
    const kept = measured.filter(({ mean, long }) => mean <= MEAN_MAX && long.length === 0);
    const mended = kept.map(({ path }) => path).filter((path) => path in DEBTS);
    const gone = Object.keys(DEBTS).filter((path) => !pages.includes(path));
    expect({ mended, gone }).toEqual({ mended: [], gone: [] });
  });

  it(`of docstrings of exported names have at most ${SENTENCE_MAX} words`, () => {
    const all = sources.flatMap((path) =>
      docstringSentences(read(path)).map(({ text, words }) => ({ path, text, words })),
    );
    const long = all.filter(({ words }) => words > SENTENCE_MAX);
    expect(long.map(({ path, text }) => `${path}: ${text}`)).toEqual([]);
    expect(all.length).toBeGreaterThan(1_000);
  });
});

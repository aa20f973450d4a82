import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pagesOf, readOperators } from '../load-tests/harness/pages.js';
import { projectRoot } from '../runtime/project.js';

const read = (path: string) => readFileSync(join(projectRoot, path), 'utf8');
/** The numbers that the rules had when one page held them all. */
const formerNumbers = JSON.parse(read('docs/rules/numbers.json')) as readonly string[];
const chapters = pagesOf('rules');
const rules = chapters.map(({ text }) => text).join('\n');
const HEADING = /^#{1,3} ((\d+(?:\.\d+)*).*)$/gm;
const headings = [...rules.matchAll(HEADING)].map(([, , number = '']) => number);
/** Above this a chapter is two pages. */
const WORDS_MAX = 1_500;

/** What may follow the heading 7.8: 7.8.1, 7.9 or 8. */
function successorsOf(number: string): readonly string[] {
  const parts = number.split('.').map(Number);
  const raised = parts.map((part, depth) => [...parts.slice(0, depth), part + 1].join('.'));
  return [`${number}.1`, ...raised];
}

const NUMBER = '\\d+\\.\\d+(?:\\.\\d+)?';
/** (7.8), (11.1, 11.2), (14.4 to 14.8), (13.3, cancel) */
const REFERENCE = new RegExp(`\\((${NUMBER}(?:(?:, |–| to )${NUMBER})*)(?:, [a-z ]+)?\\)`, 'g');

/** The row of the index for a page: its title as a link, and its sections. */
function rowOf({ path, text }: (typeof chapters)[number]): string {
  const [, title = ''] = /^# (.*)$/m.exec(text) ?? [];
  const sections = [...text.matchAll(/^## (.*)$/gm)].map(([, name = '']) => name);
  return `| [${title}](${path.slice('docs/'.length)}) | ${sections.join(' · ')} |`;
}

describe('the chapters of docs/domain.md', () => {
  it('number their sections from 1 to 34 without a gap', () => {
    expect([headings[0], headings.at(-1)]).toEqual(['1', expect.stringMatching(/^34\./)]);
    for (const [index, number] of headings.slice(1).entries()) {
      expect(successorsOf(headings[index] ?? '')).toContain(number);
    }
  });

  it('have each number that one page had before it was split, once', () => {
    expect(formerNumbers.length).toBe(219);
    const times = new Map(formerNumbers.map((number) => [number, 0]));
    for (const number of headings) times.set(number, (times.get(number) ?? 0) + 1);
    expect(
      [...times].filter(([number, count]) => count !== 1 && formerNumbers.includes(number)),
    ).toEqual([]);
  });

  it('refer to sections that exist', () => {
    const lists = [...rules.replaceAll(/\s+/g, ' ').matchAll(REFERENCE)].map(([, list]) => list);
    const references = lists.flatMap((list = '') => list.match(new RegExp(NUMBER, 'g')) ?? []);
    expect(references.length).toBeGreaterThan(100);
    expect(references.filter((number) => !headings.includes(number))).toEqual([]);
  });

  it('are short enough to be read at one sitting', () => {
    const lengths = chapters.map(({ path, text }) => ({ path, words: text.split(/\s+/).length }));
    expect(lengths.filter(({ words }) => words > WORDS_MAX)).toEqual([]);
  });

  it('stand in the index, each with its sections', () => {
    for (const chapter of chapters) expect(read('docs/domain.md')).toContain(rowOf(chapter));
  });
});

describe('the pages for operators', () => {
  const operators = pagesOf('operators');

  it('have each number that one page had before it was split, once', () => {
    const former = JSON.parse(read('docs/operators/numbers.json')) as readonly string[];
    const found = [...readOperators().matchAll(HEADING)].map(([, , number = '']) => number);
    expect(former.length).toBeGreaterThan(25);
    expect(former.filter((number) => found.filter((one) => one === number).length !== 1)).toEqual(
      [],
    );
  });

  it('stand in the index, each with its sections', () => {
    for (const page of operators) expect(read('docs/operations.md')).toContain(rowOf(page));
  });

  it('are short enough to be read at one sitting', () => {
    const lengths = operators.map(({ path, text }) => ({ path, words: text.split(/\s+/).length }));
    expect(lengths.filter(({ words }) => words > WORDS_MAX)).toEqual([]);
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectRoot } from '../runtime/project.js';

const page = readFileSync(join(projectRoot, 'docs/domain.md'), 'utf8');
const headings = [...page.matchAll(/^#{2,4} (\d+(?:\.\d+)*)/gm)].map(([, number = '']) => number);

/** What may follow the heading 7.8: 7.8.1, 7.9 or 8. */
function successorsOf(number: string): readonly string[] {
  const parts = number.split('.').map(Number);
  const raised = parts.map((part, depth) => [...parts.slice(0, depth), part + 1].join('.'));
  return [`${number}.1`, ...raised];
}

const NUMBER = '\\d+\\.\\d+(?:\\.\\d+)?';
/** (7.8), (11.1, 11.2), (14.4 to 14.8), (13.3, cancel) */
const REFERENCE = new RegExp(`\\((${NUMBER}(?:(?:, |–| to )${NUMBER})*)(?:, [a-z ]+)?\\)`, 'g');

describe('docs/domain.md', () => {
  it('numbers its sections from 1 to 34 without a gap', () => {
    expect([headings[0], headings.at(-1)]).toEqual(['1', expect.stringMatching(/^34\./)]);
    for (const [index, number] of headings.slice(1).entries()) {
      expect(successorsOf(headings[index] ?? '')).toContain(number);
    }
  });

  it('refers to sections of its own that exist', () => {
    const lists = [...page.replaceAll(/\s+/g, ' ').matchAll(REFERENCE)].map(([, list]) => list);
    const references = lists.flatMap((list = '') => list.match(new RegExp(NUMBER, 'g')) ?? []);
    expect(references.length).toBeGreaterThan(100);
    expect(references.filter((number) => !headings.includes(number))).toEqual([]);
  });
});

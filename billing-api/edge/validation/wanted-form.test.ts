import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectRoot } from '../../../runtime/project.js';
import { enumerationForm, textProblem } from './wanted-form.js';

const FILE = join(projectRoot, 'billing-api', 'generated', 'openapi.json');

/** Every pattern that the document gives a text. */
function patternsOf(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = 'pattern' in value && typeof value.pattern === 'string' ? [value.pattern] : [];
  return [...own, ...Object.values(value).flatMap(patternsOf)];
}

describe('what a member wants', () => {
  it('is said in words for every pattern of the document, not as the pattern', () => {
    const document: unknown = JSON.parse(readFileSync(FILE, 'utf8'));
    const patterns = [...new Set(patternsOf(document))];
    expect(patterns.length).toBeGreaterThan(1);
    for (const value of patterns) {
      const problem = textProblem('!', { pattern: { value } });
      expect(problem).toMatch(/^must be a (text of|decimal string)/);
      expect(problem).not.toMatch(/[\^$\\]/);
    }
  });

  it('names no empty value of an enumeration, since that counts as absent', () => {
    expect(enumerationForm(['none', 'create_prorations', '', null])).toBe(
      'one of none, create_prorations',
    );
    expect(enumerationForm(['none', null])).toBe('none');
    expect([enumerationForm([null]), enumerationForm([''])]).toEqual(['null', '""']);
  });
});

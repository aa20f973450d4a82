import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from '../runtime/project.js';

/** Sides of the screen, and shorthands that give its left and right sides different values. */
const PHYSICAL = [
  /^\s*(?:margin|padding|border|inset)-(?:left|right)\b/,
  /^\s*(?:left|right|float|clear):/,
  /:\s*(?:left|right)\s*;/,
];
const FOUR_SIDES = /^\s*(?:margin|padding|inset):\s*\S+ (\S+(?: \([^)]*\))?) \S+ (\S+);/;

function physicalIn(css: string): readonly string[] {
  return css.split('\n').filter((line) => {
    const [, right, left] = FOUR_SIDES.exec(line) ?? [];
    return PHYSICAL.some((pattern) => pattern.test(line)) || right !== left;
  });
}

test.each(['  margin-left: 1em;', '  text-align: right;', '  padding: 0 1px 2px 3px;'])(
  '%s would be found',
  (line) => expect(physicalIn(line)).toEqual([line]),
);

test('the style sheet names no side, so that a language from right to left mirrors all of it', () => {
  const css = readFileSync(join(projectRoot, 'web', 'console.css'), 'utf8');
  expect(css.split('\n').length).toBeGreaterThan(500);
  expect(physicalIn(css)).toEqual([]);
});

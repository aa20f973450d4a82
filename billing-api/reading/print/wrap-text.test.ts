import { expect, test } from 'vitest';
import { wrapText } from './wrap-text.js';

const wrap = (text: string, lettersMax: number): readonly string[] =>
  wrapText(text, {
    width: lettersMax,
    widthOf: (line) => line.length,
    roughWidthOf: (line) => line.length,
  });

type Case = readonly [what: string, text: string, lettersMax: number, lines: readonly string[]];

test.for<Case>([
  ['of quotation marks', 'Общество «Ромашка» и другие', 12, ['Общество', '«Ромашка» и', 'другие']],
  ['of brackets', 'Acme (Holding), Inc.', 11, ['Acme', '(Holding),', 'Inc.']],
  ['of Chinese', '北京，软件', 4, ['北京，', '软件']],
])('wraps a text %s between words, and not beside their marks', ([, text, width, lines]) => {
  expect(wrap(text, width)).toEqual(lines);
});

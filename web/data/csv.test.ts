import { expect, test } from 'vitest';
import { csvOf } from './csv.js';

test('CSV keeps every text and runs none of them as a formula', () => {
  const rows = [
    ['name', 'total'],
    ['Müller, "Sons"', '-12.50'],
    ['=HYPERLINK("x")', '0'],
    ['+1', '-1+1'],
    ['@x\n', null],
  ];
  expect(csvOf(rows)).toBe(
    [
      'name,total',
      '"Müller, ""Sons""",-12.50',
      `"'=HYPERLINK(""x"")",0`,
      `'+1,'-1+1`,
      `"'@x\n",`,
      '',
    ].join('\r\n'),
  );
});

import { describe, expect, it } from 'vitest';
import { csvText } from './csv.js';

const lineOf = (...cells: readonly (string | null)[]): string => csvText(['a'], [cells]).slice(3);

describe('csvText', () => {
  it('ends every line as RFC 4180 says, the header included', () => {
    expect(csvText(['a', 'b'], [])).toBe('a,b\r\n');
    expect(lineOf('1', null, 'x')).toBe('1,,x\r\n');
  });

  it('quotes cells with separators, quotes and line ends', () => {
    expect(lineOf('a,b', 'say "hi"', 'x\ny')).toBe('"a,b","say ""hi""","x\ny"\r\n');
  });

  it('lets no cell be taken for a formula, and leaves numbers alone', () => {
    expect(lineOf('=1+1', '+x', '-x', '@x')).toBe("'=1+1,'+x,'-x,'@x\r\n");
    expect(lineOf('\t=1', '\tx', '\r=1')).toBe(`'\t=1,'\tx,"'\r=1"\r\n`);
    expect(lineOf('＝1', '＋x', '－x', '＠x')).toBe("'＝1,'＋x,'－x,'＠x\r\n");
    expect(lineOf('\u200B=1', ' =1', '\uFEFF\u00A0@x', '\u00AD＝1')).toBe(
      "'\u200B=1,' =1,'\uFEFF\u00A0@x,'\u00AD＝1\r\n",
    );
    expect(lineOf(' x', '\u200Bx', 'a=b')).toBe(' x,\u200Bx,a=b\r\n');
    expect(lineOf('-1.5', '+2', '0')).toBe('-1.5,+2,0\r\n');
    expect(lineOf('=a,"b"')).toBe('"\'=a,""b"""\r\n');
  });
});

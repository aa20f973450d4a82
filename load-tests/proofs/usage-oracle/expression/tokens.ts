import { ExpressionError } from './expression.js';

export type Token =
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'name'; readonly text: string }
  | { readonly kind: 'symbol'; readonly text: string };

const PATTERNS = [
  { kind: 'space', pattern: /[ \t\r\n]+/y },
  { kind: 'number', pattern: /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w$])/y },
  { kind: 'name', pattern: /[A-Za-z_$][\w$]*/y },
  { kind: 'text', pattern: /"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*'/y },
  { kind: 'symbol', pattern: /&&|\|\||[<>=!]=|[-+*/%<>!?:()[\],]/y },
] as const;

/** A backslash stands for the character after it; n, t and r for line feed, tab and return. */
function unquote(quoted: string): string {
  const controls: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };
  return quoted
    .slice(1, -1)
    .replace(/\\([^])/g, (_match, character: string) => controls[character] ?? character);
}

/** @throws ExpressionError when a character starts no token. */
export function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let position = 0;
  while (position < text.length) {
    let length = 0;
    for (const { kind, pattern } of PATTERNS) {
      pattern.lastIndex = position;
      const found = pattern.exec(text)?.[0];
      if (found === undefined) continue;
      length = found.length;
      if (kind !== 'space') tokens.push({ kind, text: kind === 'text' ? unquote(found) : found });
      break;
    }
    if (length === 0) throw new ExpressionError(`unexpected character at ${position}`);
    position += length;
  }
  return tokens;
}

import { Linter, type Rule } from 'eslint';
import ts from 'typescript';
import { parser } from 'typescript-eslint';
import { expect, it } from 'vitest';

const path = new URL('../.config/no-dropped-refusal.js', import.meta.url).href;
const { noDroppedRefusal } = (await import(path)) as { readonly noDroppedRefusal: Rule.RuleModule };

const EXAMPLE = `
class Refusal { constructor(readonly code: string) {} }
declare function change(): Promise<number | Refusal>;
declare function check(): Refusal | null;
declare function tell(): Promise<null>;
export async function all(): Promise<unknown> {
  await change(); // dropped
  void change(); // dropped
  check(); // dropped
  await tell();
  const done = await change();
  if (done instanceof Refusal) return done;
  return change();
}
`;

/** A program of the one file, since the whole project takes a minute to load. */
function programOf(name: string, text: string): ts.Program {
  const options = { target: ts.ScriptTarget.ES2022, strict: true, types: [] };
  const host = ts.createCompilerHost(options);
  const read = host.getSourceFile.bind(host);
  host.getSourceFile = (file, ...rest) =>
    file === name ? ts.createSourceFile(file, text, ts.ScriptTarget.ES2022) : read(file, ...rest);
  return ts.createProgram([name], options, host);
}

it('finds each refusal that nobody looks at, and no other', { timeout: 120_000 }, () => {
  const name = `${process.cwd()}/example.ts`;
  const found = new Linter().verify(
    EXAMPLE,
    [
      {
        files: ['**/*.ts'],
        languageOptions: { parser, parserOptions: { programs: [programOf(name, EXAMPLE)] } },
        plugins: { house: { rules: { 'no-dropped-refusal': noDroppedRefusal } } },
        rules: { 'house/no-dropped-refusal': 'error' },
      },
    ],
    { filename: name },
  );
  const marked = EXAMPLE.split('\n').flatMap((line, index) =>
    line.endsWith('// dropped') ? [index + 1] : [],
  );
  expect(found.map(({ line, messageId, message }) => [line, messageId ?? message])).toEqual(
    marked.map((line) => [line, 'dropped']),
  );
});

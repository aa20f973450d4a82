import { Linter, type Rule } from 'eslint';
import ts from 'typescript';
import { parser } from 'typescript-eslint';
import { expect, it } from 'vitest';

const path = new URL('../.config/no-dropped-refusal.js', import.meta.url).href;
const { noDroppedRefusal, noRefusalInUnit } = (await import(path)) as {
  readonly noDroppedRefusal: Rule.RuleModule;
  readonly noRefusalInUnit: Rule.RuleModule;
};

const DROPPED = `
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

const IN_UNIT = `
class Refusal { constructor(readonly code: string) {} }
type ReadUnit = { readonly tx: string };
type Unit = ReadUnit & { readonly changes: string[] };
declare function change(unit: Unit): Promise<number>;
declare function writeUnit<T>(work: (unit: Unit) => Promise<T>): Promise<T | Refusal>;
declare function answerOf<T>(work: () => Promise<T>): Promise<T | Refusal>;
type Step = (unit: Unit) => Promise<number | Refusal>; // answered
interface Steps { first(unit: ReadUnit): Refusal | null } // answered
export const judge = (amount: number): Refusal | null => (amount < 0 ? new Refusal('no') : null);
export const find = ({ tx }: ReadUnit) => (tx === '' ? new Refusal('none') : tx); // answered
export const all = (unit: ReadUnit, found: (string | Refusal)[]) => found;
export async function swallow(unit: Unit): Promise<number> {
  try {
    return await change(unit);
  } catch { // caught
    return 0;
  }
}
export async function hide(unit: Unit): Promise<number> {
  const done = await answerOf(() => change(unit)); // caught
  return done instanceof Refusal ? 0 : change(unit).catch(() => 0); // caught
}
export async function name(unit: Unit): Promise<number> {
  try {
    return await change(unit);
  } catch (error) {
    throw new Error('of the first', { cause: error });
  }
}
export const look = (unit: ReadUnit) => answerOf(() => Promise.resolve(unit.tx)).then(() => null);
export async function operation(): Promise<number | Refusal> {
  try {
    return await writeUnit(change);
  } catch {
    return new Refusal('later');
  }
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

it.each([
  ['each refusal that nobody looks at', noDroppedRefusal, DROPPED],
  ['each that is answered or caught in a unit', noRefusalInUnit, IN_UNIT],
])('finds %s, and no other', { timeout: 120_000 }, (_, rule, example) => {
  const name = `${process.cwd()}/example.ts`;
  const found = new Linter().verify(
    example,
    [
      {
        files: ['**/*.ts'],
        languageOptions: { parser, parserOptions: { programs: [programOf(name, example)] } },
        plugins: { house: { rules: { rule } } },
        rules: { 'house/rule': 'error' },
      },
    ],
    { filename: name },
  );
  const marked = example.split('\n').flatMap((line, index) => {
    const messageId = / \/\/ (dropped|answered|caught)$/.exec(line)?.[1];
    return messageId === undefined ? [] : [[index + 1, messageId]];
  });
  expect(found.map(({ line, messageId, message }) => [line, messageId ?? message])).toEqual(marked);
});

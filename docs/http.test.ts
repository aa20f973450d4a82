import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readRules } from '../load-tests/harness/pages.js';
import { projectRoot } from '../runtime/project.js';

function read(path: string): string {
  return readFileSync(join(projectRoot, path), 'utf8');
}

const METHODS = new Set(['get', 'post', 'put', 'delete', 'patch']);

/** `GET /plans/{id}` and so on: the operations of the generated OpenAPI document. */
function builtOperations(): readonly string[] {
  const document = JSON.parse(read('billing-api/generated/openapi.json')) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  };
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations)
      .filter((method) => METHODS.has(method))
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
}

const page = read('docs/http.md');

/** Rows of the tables of operations: "| `GET /plans/{id}` | …". */
const operations = [...page.matchAll(/^\| `([A-Z]+ \/\S*)`[^|]*\|/gm)].map(
  ([, operation = '']) => operation,
);

/** The operations of the specification, each with the file that tests it (docs/http.md 17). */
const tested = [
  ...(page.split('## 17. ')[1] ?? '').matchAll(/^\| ([A-Z]+ \/\S+) \| `(\S+)` \|$/gm),
].map(([, operation = '', file = '']) => ({ operation, file }));

describe('docs/http.md', () => {
  it('lists each operation once', () => {
    expect(operations.length).toBeGreaterThan(200);
    expect(operations.filter((one, index) => operations.indexOf(one) < index)).toEqual([]);
  });

  it('lists the operations that are built, and no others', () => {
    expect([...operations].sort()).toEqual([...builtOperations()].sort());
  });

  it('marks the operations of the specification', () => {
    const marked = [...page.matchAll(/^\| `([A-Z]+ \/\S*)` \*\*\[spec\]\*\*/gm)];
    expect(marked.map(([, operation]) => operation).sort()).toEqual(
      tested.map(({ operation }) => operation).sort(),
    );
  });

  it('lists what answers have for typed clients beside their own members', () => {
    const added = JSON.parse(read('billing-api/edge/absent-members.json')) as Readonly<
      Record<string, readonly string[]>
    >;
    const listed = [...page.matchAll(/^\| (\w+Dto) \| (.+) \|$/gm)].map(
      ([, name = '', members = '']) => [name, members.split(', ')] as const,
    );
    expect(Object.fromEntries(listed)).toEqual(added);
  });

  it('names the test of each operation of the specification', () => {
    expect(tested.length).toBe(24);
    for (const { operation, file } of tested) {
      const path = operation.split(' ')[1] ?? '';
      // What the test asks for: the last part of the path that is no parameter.
      const part = path.split('/').findLast((each) => !each.startsWith('{')) ?? '';
      expect(read(file), `${path} in ${file}`).toContain(part);
    }
  });

  it('refers to sections of docs/domain.md that exist', () => {
    const headings = readRules().matchAll(/^#+ (\d+(?:\.\d+)*)/gm);
    const numbers = new Set([...headings].map(([, number]) => number));
    const references = [...page.matchAll(/\(D (\d+(?:\.\d+)*)/g)].map(([, number]) => number);
    expect(references.length).toBeGreaterThan(40);
    expect(references.filter((number) => !numbers.has(number))).toEqual([]);
  });
});

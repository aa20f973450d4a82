import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PLANNED_PATHS } from '../billing-api/edge/planned-paths.js';
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

/** Rows of the tables of operations: "| `GET /plans/{id}` **(planned)** | …". */
const rows = [...page.matchAll(/^\| `([A-Z]+ \/\S*)`([^|]*)\|/gm)].map(
  ([, operation = '', marks = '']) => ({ operation, isPlanned: marks.includes('(planned)') }),
);

describe('docs/http.md', () => {
  it('lists each operation once', () => {
    const operations = rows.map(({ operation }) => operation);
    expect(operations.length).toBeGreaterThan(200);
    expect(operations.filter((one, index) => operations.indexOf(one) < index)).toEqual([]);
  });

  it('marks as planned what is not built, and nothing else', () => {
    const unmarked = rows.filter(({ isPlanned }) => !isPlanned).map(({ operation }) => operation);
    expect(unmarked.sort()).toEqual([...builtOperations()].sort());
  });

  it('names the operations of the specification as built or planned, as their rows do', () => {
    const [, section = ''] = page.split('## 17. ');
    const lines = section.split('\n').filter((line) => /^\|.*[A-Z]+ \//.test(line));
    const named = lines.flatMap((line) => {
      const [, ...cells] = line.split('|').map((cell) => cell.trim());
      const operations = cells.slice(0, 2).map((operation, column) => ({ operation, column }));
      return operations.filter(({ operation }) => operation !== '');
    });
    expect(named.length).toBe(24);
    for (const { operation, column } of named) {
      expect(rows).toContainEqual({ operation, isPlanned: column === 1 });
    }
  });

  it('lists as planned the paths that answer so', () => {
    const planned = rows.filter(({ isPlanned }) => isPlanned);
    const paths = planned.map(({ operation }) => `/v1${operation.split(' ')[1] ?? ''}`);
    expect(paths.sort()).toEqual([...PLANNED_PATHS].sort());
  });

  it('names the test of each operation of the specification', () => {
    const [, section = ''] = page.split('## 17. ');
    const tested = [...section.matchAll(/^\| [A-Z]+ (\/\S+) \| \| `(\S+)` \|$/gm)];
    expect(tested.length).toBe(24);
    for (const [, path = '', file = ''] of tested) {
      // What the test asks for: the last part of the path that is no parameter.
      const part = path.split('/').findLast((each) => !each.startsWith('{')) ?? '';
      expect(read(file), `${path} in ${file}`).toContain(part);
    }
  });

  it('refers to sections of docs/domain.md that exist', () => {
    const headings = read('docs/domain.md').matchAll(/^#+ (\d+(?:\.\d+)*)/gm);
    const numbers = new Set([...headings].map(([, number]) => number));
    const references = [...page.matchAll(/\(D (\d+(?:\.\d+)*)/g)].map(([, number]) => number);
    expect(references.length).toBeGreaterThan(40);
    expect(references.filter((number) => !numbers.has(number))).toEqual([]);
  });
});

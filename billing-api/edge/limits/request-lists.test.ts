import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectRoot } from '../../../runtime/project.js';
import { requestLists, type RequestList } from '../../testing/request-lists.js';

const lists = requestLists();

/** As the page writes it: `items[].tiers`. */
const nameOf = ({ path }: RequestList): string => path.join('.').replaceAll('.[]', '[]');

describe('every list of a request body', () => {
  it('has a greatest number of elements', () => {
    expect(lists.length).toBeGreaterThan(60);
    const unbounded = lists.filter(({ maxItems }) => maxItems === null);
    expect(unbounded.map((list) => `${list.operation} ${nameOf(list)}`)).toEqual([]);
  });

  it('is in docs/http.md with this number, and no other is', () => {
    const text = readFileSync(join(projectRoot, 'docs/http.md'), 'utf8');
    const [, section = ''] = /#### Lists of request bodies\n([^#]*)/.exec(text) ?? [];
    const documented = [...section.matchAll(/^\| (\d+) \| (.*) \|$/gm)].flatMap(([, max, names]) =>
      [...(names ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => `${max} ${name}`),
    );
    const known = lists.map((list) => `${list.maxItems} ${nameOf(list)}`);
    expect(documented.sort()).toEqual([...new Set(known)].sort());
  });
});

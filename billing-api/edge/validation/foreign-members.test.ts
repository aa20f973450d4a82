import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from '../../../runtime/project.js';
import { adoptForeignMembers, FOREIGN_MEMBERS, type ForeignMember } from './foreign-members.js';

const OPERATION = 'POST /v1/things';
const of = (members: Omit<ForeignMember, 'operations'>): ForeignMember => ({
  operations: [OPERATION],
  ...members,
});

test('a member of other systems is dropped, renamed or read in its other form', () => {
  const members = [
    of({ path: 'type' }),
    of({ path: 'items.*.trial', becomes: 'trial_days' }),
    of({ path: 'factor', as: 'text' }),
    of({ path: 'weights.*.factor', as: 'number' }),
  ];
  const body = {
    type: 'x',
    items: [{ trial: 3 }, { trial: 4, trial_days: 5 }, null, 'text'],
    factor: 1.5,
    weights: { a: { factor: '1.25' }, b: { factor: 'much' }, c: { factor: 2 } },
    kept: { type: 'y' },
  };
  adoptForeignMembers(body, OPERATION, members);
  expect(body).toEqual({
    items: [{ trial_days: 3 }, { trial_days: 5 }, null, 'text'],
    factor: '1.5',
    weights: { a: { factor: 1.25 }, b: { factor: 'much' }, c: { factor: 2 } },
    kept: { type: 'y' },
  });
  const other = { type: 'x' };
  adoptForeignMembers(other, 'POST /v1/others', members);
  expect(other).toEqual({ type: 'x' });
});

test('a number that JSON may have changed is not read as a text', () => {
  const body = { factor: 1e21 };
  adoptForeignMembers(body, OPERATION, [of({ path: 'factor', as: 'text' })]);
  expect(body).toEqual({ factor: 1e21 });
});

test('all that is taken is listed in docs/http.md 18', () => {
  const page = readFileSync(join(projectRoot, 'docs/http.md'), 'utf8');
  const [, section = ''] = page.split('## 18. ');
  for (const { path } of FOREIGN_MEMBERS) {
    expect(section, path).toContain(path.split('.').at(-1));
  }
});

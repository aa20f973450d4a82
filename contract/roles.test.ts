import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { projectRoot } from '../runtime/project.js';
import { roleAllows, ROLES } from './roles.js';

const ENTITIES = ['event', 'job', 'plan', 'setting', 'user', 'user_role', null];

/** What a role permits on which entity, as short as the table below can be read. */
function permittedBy(role: string): readonly string[] {
  return (['read', 'write'] as const).map((access) => {
    const entities = ENTITIES.filter((entity) => roleAllows(role, { entity, access }));
    return `${access} ${entities.map((entity) => entity ?? 'unnamed').join(' ')}`.trim();
  });
}

describe('the roles', () => {
  test.each([
    [
      'super_admin',
      'read event job plan setting user user_role unnamed',
      'write event job plan setting user user_role unnamed',
    ],
    [
      'all_writer',
      'read event plan setting user user_role unnamed',
      'write event plan user unnamed',
    ],
    ['all_reader', 'read event plan setting user user_role unnamed', 'write'],
    ['event_ingestor', 'read', 'write event'],
    ['event_reader', 'read event', 'write'],
    ['unknown', 'read', 'write'],
    ['toString', 'read', 'write'],
  ])('permit %s what the table says', (role, ...permitted) => {
    expect(permittedBy(role)).toEqual(permitted);
  });

  test('are those of docs/http.md 1.11, in its order, for whom it says', () => {
    const page = readFileSync(join(projectRoot, 'docs/http.md'), 'utf8');
    const section = page.split('### 1.11 Roles')[1]?.split('### ')[0] ?? '';
    const rows = [...section.matchAll(/^\| (\w+_\w+) \|[^|]*\| ([^|]+) \|$/gm)];
    expect(rows.map(([, role, who]) => [role, who])).toEqual(
      ROLES.map(({ id, isFor }) => [id, isFor.join(', ').replace('_', ' ')]),
    );
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectRoot } from '../../../../runtime/project.js';
import { PRICING_MUTATIONS } from './all-mutations.js';

it.each(PRICING_MUTATIONS.map(({ name, edit }) => [name, edit] as const))(
  'follows the code: %s',
  (_, { path, from, to }) => {
    const text = readFileSync(join(projectRoot, path), 'utf8');
    expect(text.split(from)).toHaveLength(2);
    expect(to).not.toBe(from);
  },
);

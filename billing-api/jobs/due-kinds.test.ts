import { describe, expect, it } from 'vitest';
import { FUNCTIONS_FOLDER, readFunctions } from '../../sql/functions.js';
import { assertPresent } from '../../runtime/failure.js';
import { DUE_KINDS } from './bill-environment.js';

describe('what falls due', () => {
  it('has a process for each kind of due_items(), and no other', () => {
    const found = readFunctions(FUNCTIONS_FOLDER).find(({ name }) => name === 'due_items');
    const { text } = assertPresent(found, 'due_items()');
    const kinds = [...text.matchAll(/^ {2}SELECT '(\w+)', id, at.* FROM due_\1\(/gm)].map(
      ([, kind]) => kind,
    );
    expect(kinds).toHaveLength(text.split('UNION ALL').length);
    expect(Object.keys(DUE_KINDS)).toEqual(kinds);
  });
});

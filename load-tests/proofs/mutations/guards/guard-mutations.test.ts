import { expect, it } from 'vitest';
import { projectRoot } from '../../../../runtime/project.js';
import { editedTexts } from '../mutated-copy.js';
import { GUARD_MUTATIONS, testsOf } from './guard-trial.js';

it.each(GUARD_MUTATIONS)('follows the code: $name', (mutation) => {
  expect(testsOf(mutation).paths).toBe(mutation.test);
  expect(editedTexts(projectRoot, mutation.edits).size).toBeGreaterThan(0);
});

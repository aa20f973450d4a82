import { expect, it } from 'vitest';
import { projectRoot } from '../../../../runtime/project.js';
import { editedTexts } from '../mutated-copy.js';
import { PRICING_MUTATIONS } from './all-mutations.js';

it.each(PRICING_MUTATIONS)('follows the code: $name', ({ edits }) => {
  expect(editedTexts(projectRoot, edits).size).toBe(1);
});

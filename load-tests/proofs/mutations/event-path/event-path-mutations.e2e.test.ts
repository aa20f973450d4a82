import { describe, expect, test } from 'vitest';
import { projectRoot } from '../../../../runtime/project.js';
import { editedTexts } from '../mutated-copy.js';
import { EVENT_PATH_MUTATIONS, scenarioOf } from './event-path-trial.js';

// Among the end-to-end tests since the edits are of the build, which these see to.
describe('the list of mutations', () => {
  test.each(EVENT_PATH_MUTATIONS)('follows the code: $name', (mutation) => {
    expect(scenarioOf(mutation).name).toContain(mutation.scenario);
    expect(editedTexts(projectRoot, mutation.edits).size).toBeGreaterThan(0);
  });
});

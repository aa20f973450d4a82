import { describe, expect, test } from 'vitest';
import { projectRoot } from '../../../../runtime/project.js';
import { editedTexts } from '../mutated-copy.js';
import { EVENT_PATH_MUTATIONS, scenarioOf } from './event-path-trial.js';

// An end-to-end test, because those run after the build, which the edits change.
describe('the list of mutations', () => {
  test.each(EVENT_PATH_MUTATIONS)('follows the code: $name', (mutation) => {
    expect(scenarioOf(mutation).name).toContain(mutation.scenario);
    expect(editedTexts(projectRoot, mutation.edits).size).toBeGreaterThan(0);
  });
});

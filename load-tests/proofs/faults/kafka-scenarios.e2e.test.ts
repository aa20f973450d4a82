import { afterAll, describe } from 'vitest';
import { startFaultEngines } from './engines/fault-engines.js';
import { testRandomRuns, testScenarios } from './test-scenarios.js';

const engines = await startFaultEngines(['kafka']);
afterAll(() => engines.close());

describe('the product on the kafka log', () => {
  const ground = { engines, log: 'kafka' } as const;
  testScenarios(ground, ({ isAboutLog }) => isAboutLog);
  testRandomRuns(ground);
});

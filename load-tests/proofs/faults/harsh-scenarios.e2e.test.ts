import { afterAll, describe } from 'vitest';
import { startFaultEngines } from './engines/fault-engines.js';
import { testRandomRuns, testScenarios } from './test-scenarios.js';

const engines = await startFaultEngines(['postgres']);
afterAll(() => engines.close());

describe('the product on the postgres log, engines disturbed', () => {
  const ground = { engines, log: 'postgres' } as const;
  testScenarios(ground, ({ isCalm }) => !isCalm);
  testRandomRuns(ground);
});

import { afterAll, describe } from 'vitest';
import { startFaultEngines } from './engines/fault-engines.js';
import { testScenariosBeside } from './test-scenarios.js';

const engines = await startFaultEngines(['postgres']);
afterAll(() => engines.close());

describe('the product on the postgres log, engines left alone', () => {
  testScenariosBeside({ engines, log: 'postgres' }, ({ isCalm }) => isCalm);
});

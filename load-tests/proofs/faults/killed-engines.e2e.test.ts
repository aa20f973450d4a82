import { afterAll, describe } from 'vitest';
import { startFaultEngines } from './engines/fault-engines.js';
import { testScenarios } from './test-scenarios.js';
import { LOSING_REPLIES } from './scenarios/losing-replies.js';

const engines = await startFaultEngines(['postgres']);
afterAll(() => engines.close());

describe('the product on the postgres log, engines disturbed', () => {
  const ground = { engines, log: 'postgres' } as const;
  testScenarios(ground, (scenario) => !scenario.isCalm && !LOSING_REPLIES.includes(scenario));
});

import pc from 'picocolors';
import { displayIdOf } from '../sql/api-key.js';
import { startStack, type Stack } from './stack.js';
import { readStackConfig } from './stack-config.js';
import { walkThrough } from './walk-through.js';

/** `minutebook start`: runs the whole product in the foreground until Ctrl-C. */
export async function runStartVerb(): Promise<void> {
  const config = readStackConfig({ ...process.env, MINUTEBOOK_LOG_LEVEL: levelOf(process.env) });
  const startedAt = Date.now();
  console.error('Starting databases and programs …');
  const stack = await startStack(config);
  stack.lifecycle.closeOnSignals(config.MINUTEBOOK_STOP_DELAY_MS);
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  console.log(`
${pc.bold('Minutebook is ready')} after ${seconds} s.

  URL       ${stack.url}/v1      (reference: ${stack.url}/docs)
  API key   ${stack.isNewKey ? stack.apiKey : `${displayIdOf(stack.apiKey)}, which was shown at the first start; \`npx minutebook keys create\` makes another`}
  Data      ${config.MINUTEBOOK_DATA_DIR}

${stack.isNewKey ? tryIt(stack) : ''}Ctrl-C stops everything and keeps the data.`);
}

/** With the key, which is not shown again. */
function tryIt({ url, apiKey }: Stack): string {
  return `Try it in another terminal, line by line:\n\n${walkThrough(url, apiKey)}\n`;
}

/** At a terminal only what needs attention is logged by default. */
function levelOf(environment: NodeJS.ProcessEnv): string {
  return environment['MINUTEBOOK_LOG_LEVEL'] ?? 'warn';
}

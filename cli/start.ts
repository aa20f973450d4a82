import pc from 'picocolors';
import { displayIdOf } from '../sql/api-key.js';
import { startStack, type Stack } from './stack/stack.js';
import { readStackConfig, type StackConfig } from './stack/stack-config.js';
import { walkThrough } from './walk-through.js';

/** `minutebook start`: runs the whole product in the foreground until Ctrl-C. */
export async function runStartVerb(): Promise<void> {
  const config = readStackConfig({ ...process.env, MINUTEBOOK_LOG_LEVEL: levelOf(process.env) });
  const startedAt = Date.now();
  console.log('Starting databases and programs …');
  const stack = await startStack(config);
  stack.lifecycle.closeOnSignals(config.MINUTEBOOK_STOP_DELAY_MS);
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  console.log(`
${pc.bold('Minutebook is ready')} after ${seconds} s.

  URL       ${stack.url}/v1
  Pages     ${stack.url}/docs      (built beside the first start, in half a minute)
  API key   ${keyText(stack, config)}
${consoleText(stack)}  Data      ${config.MINUTEBOOK_DATA_DIR}

${stack.isNewKey ? tryIt(stack) : ''}Ctrl-C stops everything and keeps the data.`);
  await stack.noteKeyShown();
}

/** The code works once, and for a quarter of an hour. */
function consoleText({ consoleUrl }: Stack): string {
  return consoleUrl === null ? '' : `  Console   ${consoleUrl}\n`;
}

/** The whole key at the first start only. */
function keyText({ isNewKey, apiKey }: Stack, config: StackConfig): string {
  if (isNewKey) return apiKey;
  const origin =
    config.MINUTEBOOK_BOOTSTRAP_API_KEY === undefined
      ? 'which was shown at the first start'
      : 'that of MINUTEBOOK_BOOTSTRAP_API_KEY';
  return `${displayIdOf(apiKey)}, ${origin}; \`npx minutebook keys create\` makes another`;
}

/** With the key, which is not shown again. */
function tryIt({ url, apiKey }: Stack): string {
  return `Try it in another terminal, line by line:\n\n${walkThrough(url, apiKey)}\n`;
}

/** At a terminal only what needs attention is logged by default. */
function levelOf(environment: NodeJS.ProcessEnv): string {
  return environment['MINUTEBOOK_LOG_LEVEL'] ?? 'warn';
}

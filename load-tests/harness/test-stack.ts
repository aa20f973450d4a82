import { startStack, type Stack } from '../../cli/stack/stack.js';
import { readStackConfig } from '../../cli/stack/stack-config.js';
import { makeTestDirectory } from './test-directory.js';

/** Limits of requests have tests of their own. */
const NO_LIMITS = {
  MINUTEBOOK_FAILED_AUTH_RATE: '0',
  MINUTEBOOK_PUBLIC_RATE: '0',
  MINUTEBOOK_INGEST_RATE: '100000',
  MINUTEBOOK_HEAVY_RATE: '100000',
  MINUTEBOOK_DEFAULT_RATE: '100000',
};

/** The whole product as `npm start` composes it, in a directory that outlives it. */
export function startStackIn(
  directory: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Stack> {
  return startStack(
    readStackConfig({
      ...NO_LIMITS,
      MINUTEBOOK_PORT: '0',
      MINUTEBOOK_LOG_LEVEL: 'fatal',
      MINUTEBOOK_DATA_DIR: directory,
      ...settings,
    }),
  );
}

/** The whole product in a directory of its own; `close` stops it and removes the directory. */
export async function startTestStack(
  settings: Readonly<Record<string, string>> = {},
): Promise<{ readonly stack: Stack; close(): Promise<void> }> {
  const directory = await makeTestDirectory();
  try {
    const stack = await startStackIn(directory.path, settings);
    const close = async (): Promise<void> => {
      await stack.lifecycle.close();
      await directory.remove();
    };
    return { stack, close };
  } catch (error) {
    await directory.remove();
    throw error;
  }
}

export async function withTestStack(
  settings: Readonly<Record<string, string>>,
  work: (stack: Stack) => Promise<void>,
): Promise<void> {
  const { stack, close } = await startTestStack(settings);
  try {
    await work(stack);
  } finally {
    await close();
  }
}

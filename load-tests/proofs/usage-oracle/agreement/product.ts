import { startTestStack } from '../../../harness/test-stack.js';

/** A running product as its callers see it. */
export type Product = {
  /** The parsed answer. @throws Error with status and text for every status of 400 and above. */
  readonly post: <Answer>(path: string, bodyText: string) => Promise<Answer>;
  readonly get: <Answer>(path: string) => Promise<Answer>;
  readonly close: () => Promise<void>;
};

/** Starts a whole product in a temporary directory. */
export async function startProduct(): Promise<Product> {
  const { stack, close } = await startTestStack();
  const { url, apiKey } = stack;
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  const call = async <Answer>(path: string, request: RequestInit): Promise<Answer> => {
    const response = await fetch(`${url}/v1${path}`, { ...request, headers });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`);
    return JSON.parse(text) as Answer;
  };
  return {
    // Bodies are texts, since a number must reach the product in the digits that were written.
    post: (path, body) => call(path, { method: 'POST', body }),
    get: (path) => call(path, {}),
    close,
  };
}

import type { Stack } from '../../cli/stack/stack.js';

/** Calls a running product: the parsed answer. @throws Error for any status but a success. */
export async function callStack<Answer>(
  stack: Pick<Stack, 'url' | 'apiKey'>,
  operation: `${'GET' | 'POST' | 'PUT' | 'DELETE'} /${string}`,
  body?: unknown,
): Promise<Answer> {
  const [method = '', path = ''] = operation.split(' ');
  const response = await fetch(`${stack.url}/v1${path}`, {
    method,
    headers: { 'x-api-key': stack.apiKey, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${operation}: ${response.status} ${text}`);
  return JSON.parse(text) as Answer;
}

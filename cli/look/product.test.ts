import { describe, expect, test } from 'vitest';
import { inTestDirectory } from '../../load-tests/harness/test-directory.js';
import { drawFreePort } from '../../runtime/port.js';
import { UnexpectedAnswer, type ApiClient } from './api-client.js';
import { VerbRefused } from '../stack/verb-refused.js';
import { askProduct } from './product.js';

const key = { MINUTEBOOK_API_KEY: 'sk_x' };
const at = (url: string): Record<string, string> => ({ ...key, MINUTEBOOK_URL: url });

async function refusalOf(
  settings: Record<string, string>,
  ask: (api: ApiClient) => Promise<unknown>,
): Promise<string> {
  const error: unknown = await askProduct(settings, ask).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(VerbRefused);
  return (error as VerbRefused).message;
}

describe('asking a product', () => {
  test.each([
    ['https://billing.example.com', 'https://billing.example.com/v1'],
    ['https://billing.example.com/', 'https://billing.example.com/v1'],
    ['https://billing.example.com/v1/', 'https://billing.example.com/v1'],
  ])('takes the address %s with and without the version', async (given, expected) => {
    expect(await askProduct(at(given), (api) => Promise.resolve(api.baseUrl))).toBe(expected);
  });

  test('asks the product of npm start by default, on its port', async () => {
    const ask = (api: ApiClient): Promise<string> => Promise.resolve(api.baseUrl);
    expect(await askProduct(key, ask)).toBe('http://127.0.0.1:8080/v1');
    const moved = { ...key, MINUTEBOOK_PORT: '9090' };
    expect(await askProduct(moved, ask)).toBe('http://127.0.0.1:9090/v1');
  });

  test('says what to do when there is no product', async () => {
    const url = `http://127.0.0.1:${await drawFreePort()}`;
    expect(await refusalOf(at(url), (api) => api.get('/events'))).toBe(
      `nothing answers at ${url}/v1 (ECONNREFUSED): start the product with \`npm start\`, or set MINUTEBOOK_URL to its address`,
    );
  });

  test('says what to do when there is no key', async () => {
    await inTestDirectory(async (directory) => {
      const settings = { MINUTEBOOK_DATA_DIR: directory };
      expect(await refusalOf(settings, () => Promise.resolve())).toMatch(
        /^there is no API key: set MINUTEBOOK_API_KEY \(.*first-api-key/,
      );
    });
  });

  test('passes on what the product refuses, with the members that it names', async () => {
    const body = { message: 'not valid', details: { id: 'is too long' } };
    const text = JSON.stringify({ code: 'validation_error', http_status_code: 400, ...body });
    const refuse = (): Promise<never> => Promise.reject(new UnexpectedAnswer(400, text));
    expect(await refusalOf(at('http://a.example'), refuse)).toBe(
      'http://a.example/v1 answers 400: not valid; id is too long',
    );
  });

  test('passes on what does not come from Minutebook', async () => {
    const refuse = (): Promise<never> => Promise.reject(new UnexpectedAnswer(502, '<html>'));
    expect(await refusalOf(at('http://a.example'), refuse)).toBe(
      'http://a.example/v1 answers 502: <html>',
    );
  });
});

import { gzipSync } from 'node:zlib';

/** An answer with an error status; the message has the beginning of its text. */
export class UnexpectedAnswer extends Error {
  constructor(
    readonly status: number,
    readonly text: string,
  ) {
    super(`HTTP ${status}: ${text.slice(0, 500)}`);
    this.name = 'UnexpectedAnswer';
  }
}

/** Larger bodies are sent gzipped, as a client with a slow connection would. */
const GZIP_ABOVE_BYTES = 64 * 1024;

async function answerOf<Answer>(response: Response): Promise<Answer> {
  const text = await response.text();
  if (!response.ok) throw new UnexpectedAnswer(response.status, text);
  return JSON.parse(text) as Answer;
}

/** A small client of the HTTP interface for JSON. */
export class ApiClient {
  constructor(
    readonly baseUrl: string,
    private readonly apiKey: string,
  ) {}

  /** The parsed body of the answer. @throws UnexpectedAnswer for any status of 400 and above. */
  async post<Answer>(path: string, body: unknown): Promise<Answer> {
    const text = JSON.stringify(body);
    const isLarge = text.length > GZIP_ABOVE_BYTES;
    const response = await fetch(`${this.baseUrl}${path}`, {
      method: 'POST',
      headers: {
        'x-api-key': this.apiKey,
        'content-type': 'application/json',
        ...(isLarge ? { 'content-encoding': 'gzip' } : {}),
      },
      body: isLarge ? gzipSync(text, { level: 1 }) : text,
    });
    return answerOf<Answer>(response);
  }

  /** The parsed body of the answer. @throws UnexpectedAnswer like `post`. */
  async get<Answer>(path: string): Promise<Answer> {
    const headers = { 'x-api-key': this.apiKey };
    return answerOf<Answer>(await fetch(`${this.baseUrl}${path}`, { headers }));
  }

  /** Changes a record. @throws UnexpectedAnswer like `post`. */
  async put(path: string, body: unknown): Promise<void> {
    const headers = { 'x-api-key': this.apiKey, 'content-type': 'application/json' };
    const request = { method: 'PUT', headers, body: JSON.stringify(body) };
    await answerOf<unknown>(await fetch(`${this.baseUrl}${path}`, request));
  }

  /** Removes a record. @throws UnexpectedAnswer like `post`. */
  async delete(path: string): Promise<void> {
    const request = { method: 'DELETE', headers: { 'x-api-key': this.apiKey } };
    await answerOf<unknown>(await fetch(`${this.baseUrl}${path}`, request));
  }
}

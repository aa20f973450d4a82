import { describe, expect, it } from 'vitest';
import { inSmallChunks } from './small-chunks.js';

const HEAD = 'POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n';
const inOneChunk = (body: string): Buffer =>
  Buffer.from(`${HEAD}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);

describe('inSmallChunks', () => {
  it('sends the same body in chunks of 16 KiB', () => {
    const body = 'ghijklm\r\n'.repeat(4_000);
    const text = inSmallChunks(inOneChunk(body)).toString();
    const sizes = text.slice(HEAD.length).match(/(?<=^|\r\n)[0-9a-f]+(?=\r\n)/g);
    expect(sizes).toEqual(['4000', '4000', 'ca0', '0']);
    const chunks = [body.slice(0, 16_384), body.slice(16_384, 32_768), body.slice(32_768)];
    expect(text).toBe(
      `${HEAD}${chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('')}0\r\n\r\n`,
    );
    expect(inSmallChunks(Buffer.from(text)).toString()).toBe(text);
  });

  it('leaves a request with a length alone', () => {
    const request = Buffer.from('POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\nab');
    expect(inSmallChunks(request)).toBe(request);
  });
});

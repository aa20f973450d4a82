const HEAD_END = '\r\n\r\n';
const LINE_END = '\r\n';
const CHUNK_BYTES = 16 * 1024;

/** The body that a chunked transfer carries. */
function bodyOf(chunked: Buffer): Buffer {
  const pieces: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = chunked.indexOf(LINE_END, at);
    const size = Number.parseInt(chunked.toString('latin1', at, lineEnd), 16);
    if (lineEnd < 0 || !(size > 0)) return Buffer.concat(pieces);
    const start = lineEnd + LINE_END.length;
    pieces.push(chunked.subarray(start, start + size));
    at = start + size + LINE_END.length;
  }
}

/**
 * The same HTTP request in chunks of 16 KiB. ClickHouse reads a chunk to its end before it looks at
 * it, and a client may send a whole insert in one: half of that would tell the server nothing. A
 * request that is not chunked stays as it is.
 */
export function inSmallChunks(request: Buffer): Buffer {
  const headEnd = request.indexOf(HEAD_END) + HEAD_END.length;
  const head = request.subarray(0, headEnd);
  if (!/transfer-encoding: chunked/i.test(head.toString('latin1'))) return request;
  const body = bodyOf(request.subarray(headEnd));
  const pieces: (Buffer | string)[] = [head];
  for (let start = 0; start < body.length; start += CHUNK_BYTES) {
    const chunk = body.subarray(start, start + CHUNK_BYTES);
    pieces.push(chunk.length.toString(16), LINE_END, chunk, LINE_END);
  }
  pieces.push('0', HEAD_END);
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
}

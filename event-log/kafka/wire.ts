import { connect, type Socket } from 'node:net';
import { assertThat } from '../../runtime/failure.js';

// The encoding of a few requests of the Kafka protocol that the driver does not offer. Source:
// "Kafka protocol guide" of Apache Kafka, section "Protocol Primitive Types".

const CLIENT_ID = 'minutebook';
/** Far more than any answer needs. A longer one means that the peer is not a Kafka broker. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;

export type BrokerAddress = { readonly host: string; readonly port: number };

/** The kind of a request; its version may use the compact encodings with tagged fields. */
export type RequestKind = {
  readonly apiKey: number;
  readonly version: number;
  readonly isCompact: boolean;
};

/** Builds the body of a request. */
export class WireWriter {
  readonly #parts: Buffer[] = [];

  int8(value: number): this {
    return this.#push(1, (buffer) => buffer.writeInt8(value));
  }

  int16(value: number): this {
    return this.#push(2, (buffer) => buffer.writeInt16BE(value));
  }

  int32(value: number): this {
    return this.#push(4, (buffer) => buffer.writeInt32BE(value));
  }

  /** Length in 16 bits, then UTF-8. */
  string(text: string): this {
    const bytes = Buffer.from(text);
    this.int16(bytes.length).#parts.push(bytes);
    return this;
  }

  /** Length plus one as a variable-length number, then UTF-8. */
  compactString(text: string): this {
    const bytes = Buffer.from(text);
    this.varint(bytes.length + 1).#parts.push(bytes);
    return this;
  }

  varint(value: number): this {
    let rest = value;
    while (rest >= 0x80) {
      this.#parts.push(Buffer.of((rest & 0x7f) | 0x80));
      rest >>>= 7;
    }
    this.#parts.push(Buffer.of(rest));
    return this;
  }

  bytes(value: Buffer): this {
    this.#parts.push(value);
    return this;
  }

  toBuffer(): Buffer {
    return Buffer.concat(this.#parts);
  }

  #push(size: number, write: (buffer: Buffer) => void): this {
    const buffer = Buffer.alloc(size);
    write(buffer);
    this.#parts.push(buffer);
    return this;
  }
}

/** Reads the body of an answer field by field. @throws RangeError beyond its end. */
export class WireReader {
  #position = 0;

  constructor(private readonly buffer: Buffer) {}

  int8(): number {
    return this.buffer.readInt8(this.#advance(1));
  }

  int16(): number {
    return this.buffer.readInt16BE(this.#advance(2));
  }

  int32(): number {
    return this.buffer.readInt32BE(this.#advance(4));
  }

  string(): string | null {
    const length = this.int16();
    return length < 0 ? null : this.bytes(length).toString();
  }

  compactString(): string | null {
    const length = this.varint() - 1;
    return length < 0 ? null : this.bytes(length).toString();
  }

  varint(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.buffer.readUInt8(this.#advance(1));
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new RangeError('a variable-length number is too long');
  }

  bytes(length: number): Buffer {
    const start = this.#advance(length);
    if (start + length > this.buffer.length) throw new RangeError('the answer is cut off');
    return this.buffer.subarray(start, start + length);
  }

  array<T>(readElement: () => T): readonly T[] {
    return Array.from({ length: Math.max(0, this.int32()) }, readElement);
  }

  compactArray<T>(readElement: () => T): readonly T[] {
    return Array.from({ length: Math.max(0, this.varint() - 1) }, readElement);
  }

  /** Skips fields of newer versions. */
  tags(): void {
    const count = this.varint();
    for (let index = 0; index < count; index += 1) {
      this.varint();
      this.bytes(this.varint());
    }
  }

  #advance(length: number): number {
    const start = this.#position;
    this.#position += length;
    return start;
  }
}

function frame(kind: RequestKind, body: Buffer): Buffer {
  const header = new WireWriter().int16(kind.apiKey).int16(kind.version).int32(1).string(CLIENT_ID);
  if (kind.isCompact) header.varint(0);
  const message = Buffer.concat([header.toBuffer(), body]);
  return Buffer.concat([new WireWriter().int32(message.length).toBuffer(), message]);
}

function readAnswer(socket: Socket): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const length = received.length >= 4 ? received.readInt32BE(0) : 0;
      if (length < 0 || length > ANSWER_BYTES_MAX)
        reject(new RangeError('the peer is not a Kafka broker'));
      else if (received.length >= 4 && received.length - 4 >= length) resolve(received.subarray(4));
    });
    socket.on('error', reject);
    socket.on('close', () => {
      reject(new Error('the broker closed the connection'));
    });
    socket.on('timeout', () => {
      reject(new Error('the broker did not answer in time'));
    });
  });
}

/**
 * Sends one request over its own connection and returns the body of the answer.
 * @throws Error when the broker cannot be reached or does not answer within the time.
 */
export async function askBroker(
  broker: BrokerAddress,
  request: RequestKind & { readonly body: Buffer; readonly timeoutMs: number },
): Promise<WireReader> {
  const socket = connect({ ...broker, timeout: request.timeoutMs });
  try {
    const answer = readAnswer(socket);
    socket.write(frame(request, request.body));
    const reader = new WireReader(await answer);
    assertThat(reader.int32() === 1, 'the answer belongs to another request');
    if (request.isCompact) reader.tags();
    return reader;
  } finally {
    socket.destroy();
  }
}

import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a store was sent for a key. */
export type StoredObject = {
  readonly body: Buffer;
  readonly contentType: string | undefined;
  readonly encryption: string | string[] | undefined;
};

/** The smallest store that answers a PUT of an object as S3 does, or refuses it. */
export type ObjectStore = {
  readonly url: string;
  readonly objects: Map<string, StoredObject>;
  /** How many of the next requests are refused. */
  refuseNext: number;
  /** Called with each request that is never answered, and whose object is not there therefore. */
  onHanging: (() => void) | null;
  readonly close: () => Promise<void>;
};

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Starts a store on a free port of this machine. */
export async function startObjectStore(): Promise<ObjectStore> {
  const objects = new Map<string, StoredObject>();
  const store: Pick<ObjectStore, 'refuseNext' | 'onHanging'> = { refuseNext: 0, onHanging: null };
  const server: Server = createServer((request, response) => {
    const answer = (body: Buffer): unknown => {
      if (store.onHanging !== null) return store.onHanging();
      if (store.refuseNext > 0) {
        store.refuseNext -= 1;
        response.writeHead(403, { 'content-type': 'application/xml' });
        return response.end('<Error><Code>AccessDenied</Code><Message>refused</Message></Error>');
      }
      const { headers } = request;
      const path = new URL(request.url ?? '/', 'http://store').pathname;
      objects.set(decodeURIComponent(path), {
        body,
        contentType: headers['content-type'],
        encryption: headers['x-amz-server-side-encryption'],
      });
      response.writeHead(200, { etag: '"1"' });
      return response.end();
    };
    // Whoever sends it may be killed in the middle.
    void bodyOf(request).then(answer, () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(store, {
    objects,
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  });
}

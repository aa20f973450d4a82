import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClickHouse, type ClickHouse } from '../../clickhouse/client.js';
import { assertPresent } from '../../runtime/failure.js';

/** A client of the embedded ClickHouse of a running product, from the files of its directory. */
export async function openEmbeddedStore(dataDirectory: string): Promise<ClickHouse> {
  const read = (name: string): Promise<string> =>
    readFile(join(dataDirectory, 'clickhouse', name), 'utf8');
  const port = /<http_port>(\d+)</.exec(await read('config.xml'))?.[1];
  const password = (await read('password')).trim();
  const address = `127.0.0.1:${assertPresent(port, 'the port of the embedded ClickHouse')}`;
  return createClickHouse(`http://minutebook:${password}@${address}/minutebook`);
}

import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { DataType, load, open } from 'ffi-rs';
import { z } from 'zod';

/**
 * The process that hosts the embedded ClickHouse: `node embedded-server.js <file>`, where the file
 * is the JSON of ServerOrder. It ends when its parent does (the channel between them closes) and on
 * SIGTERM; both end the server cleanly.
 */
const orderSchema = z.object({
  library: z.string(),
  /** Arguments of `clickhouse local`. */
  arguments: z.array(z.string()),
  httpUrl: z.string().url(),
  /** Marks the query that keeps the server up. */
  token: z.string().regex(/^[0-9a-f]+$/),
});

export type ServerOrder = z.infer<typeof orderSchema>;

/** A shutdown that takes longer is stuck. Exiting is as safe: what was acknowledged is synced. */
const SHUTDOWN_TIMEOUT_MS = 15_000;

const EXIT_FAILED = 1;

let isStopping = false;

/** Sends a statement on a connection of its own, since an open one would hold up the shutdown. */
function send(httpUrl: string, statement: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const sending = request(httpUrl, { method: 'POST', agent: false }, (response) => {
      response.resume().on('end', resolve);
    });
    sending.on('error', reject).end(statement);
  });
}

/**
 * Ends the query that keeps the server up; `clickhouse local` then shuts down as after its last.
 */
async function stop(order: ServerOrder): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), SHUTDOWN_TIMEOUT_MS).unref();
  // Assembled from two parts, so that the KILL does not find itself.
  const kill = `KILL QUERY WHERE position(query, concat('keep-up-', '${order.token}')) > 0 ASYNC`;
  try {
    await send(order.httpUrl, kill);
  } catch {
    // It does not listen (yet): there is nothing to lose by ending at once.
    process.exit(EXIT_FAILED);
  }
}

async function serve(order: ServerOrder): Promise<void> {
  open({ library: 'chdb', path: order.library });
  // It wakes once a second, and so does who waits for it (in microseconds).
  const keepUp =
    'SELECT sleepEachRow(1) FROM system.numbers ' +
    'SETTINGS max_block_size = 1, interactive_delay = 1000000 FORMAT Null';
  const query = `SYSTEM START LISTEN HTTP; /* keep-up-${order.token} */ ${keepUp}`;
  const words = ['clickhouse', ...order.arguments, `--query=${query}`];
  await load({
    library: 'chdb',
    funcName: 'chdb_query_cmdline',
    retType: DataType.External,
    paramsType: [DataType.I32, DataType.StringArray],
    paramsValue: [words.length, words],
    runInNewThread: true,
  });
}

const orderFile = process.argv[2];
if (orderFile === undefined) throw new Error('embedded-server needs the path of its order file');
const order = orderSchema.parse(JSON.parse(readFileSync(orderFile, 'utf8')));
process.on('SIGTERM', () => void stop(order));
process.on('SIGINT', () => void stop(order));
process.on('disconnect', () => void stop(order));
await serve(order);
process.exit(isStopping ? 0 : EXIT_FAILED);

import { Agent, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

// A thread that keeps connections busy, so that reading their answers takes no time of its starter.

/** What a thread asks for, on how many connections. */
export type Asking = {
  readonly port: number;
  readonly apiKey: string;
  readonly path: string;
  /** Sent with POST; GET without it. */
  readonly body?: string;
  readonly connections: number;
};

const { port, apiKey, path, body, connections } =
  // What its starter gave.
  workerData as Asking;

const headers = { 'x-api-key': apiKey, ...(body && { 'content-type': 'application/json' }) };
const method = body === undefined ? 'GET' : 'POST';
const agent = new Agent({ keepAlive: true, maxSockets: connections });
let answers = 0;
let isOver = false;

/** The status of one answer, when all of it has been read. */
function ask(): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request({ agent, port, path, method, headers }, (answer) => {
      answer.resume();
      answer.once('end', () => resolve(answer.statusCode ?? 0));
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

async function keepAsking(): Promise<void> {
  while (!isOver) {
    const status = await ask();
    if (status !== 200) throw new Error(`${path} was answered with ${status}`);
    answers += 1;
  }
}

parentPort?.once('message', () => {
  isOver = true;
});
await Promise.all(Array.from({ length: connections }, keepAsking));
agent.destroy();
parentPort?.postMessage(answers);

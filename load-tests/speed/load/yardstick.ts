import { createServer } from 'node:http';

/**
 * The yardstick of P1 and P2 as a process of its own: node:http that gathers the body, parses the
 * same JSON and answers 202. It prints its port and ends with its standard input.
 */
const ANSWER = JSON.stringify({ message: 'event accepted', event_id: 'none' });

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    JSON.parse(Buffer.concat(chunks).toString());
    response.writeHead(202, {
      'Content-Type': 'application/json',
      'Content-Length': ANSWER.length,
    });
    response.end(ANSWER);
  });
});

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null) console.log(address.port);
});
process.stdin.on('end', () => process.exit(0));
process.stdin.resume();

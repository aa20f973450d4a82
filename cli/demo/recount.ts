import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** The requests of one client address, counted in the raw file. */
export type Recount = { readonly all: number; readonly pages: number };

/**
 * Splits lines at quotes and blanks instead of parsing them, so that it shares neither code nor
 * method with `eventOfLine`. Prints the address, the number of all requests, and the number of GET
 * requests that were answered with 200, 206 or 304.
 */
const PROGRAM = String.raw`
BEGIN { FS = "\"" }
/^[ \t]*$/ { next }
{
  split($1, head, " "); split($2, request, " "); split($3, answer, " ");
  all[head[1]]++;
  if (request[1] == "GET" && (answer[1] == "200" || answer[1] == "206" || answer[1] == "304"))
    pages[head[1]]++;
}
END { for (address in all) print address, all[address], pages[address] + 0 }
`;

/** Counts the lines of a log text per client address with awk. @throws Error when awk fails. */
export async function recountWithAwk(text: string): Promise<ReadonlyMap<string, Recount>> {
  const awk = spawn('awk', [PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] });
  const chunks: Buffer[] = [];
  awk.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  const ended = once(awk, 'close');
  awk.stdin.end(text);
  const [code] = (await ended) as readonly unknown[];
  if (code !== 0) throw new Error(`awk ended with ${String(code)}`);
  const lines = Buffer.concat(chunks).toString('utf8').trim().split('\n');
  return new Map(
    lines.map((line) => {
      const [address = '', all, pages] = line.split(' ');
      return [address, { all: Number(all), pages: Number(pages) }] as const;
    }),
  );
}

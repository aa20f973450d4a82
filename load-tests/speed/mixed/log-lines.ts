import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** pino's number of `warn`. */
const WARN = 40;

/** Lines of the product's log at `warn` and above, and whatever else it prints, by their text. */
export class LogLines {
  readonly unexpected = new Map<string, number>();

  constructor(private readonly file: string) {}

  read(stream: Readable): void {
    createInterface({ input: stream }).on('line', (line) => this.add(line));
  }

  add(line: string): void {
    appendFileSync(this.file, `${line}\n`);
    const text = textOf(line);
    if (text === null) return;
    this.unexpected.set(text, (this.unexpected.get(text) ?? 0) + 1);
  }
}

type Line = { readonly level: number; readonly program: string; readonly msg: string };

/** `program: message`; null for a line below `warn`. What is not JSON was not logged by us. */
function textOf(line: string): string | null {
  if (line.trim() === '') return null;
  if (!line.startsWith('{')) return line;
  const { level, program, msg } = JSON.parse(line) as Line;
  return level < WARN ? null : `${program}: ${msg}`;
}

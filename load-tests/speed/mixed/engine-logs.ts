import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What the embedded engines log by themselves at warning and above. */
const FILES = {
  clickhouse: 'clickhouse/clickhouse-errors.log',
  postgres: 'postgres/postgres.log',
} as const;

/** Lines of the engines' own error logs by their text; numbers and ids are left out. */
export async function readEngineLogs(dataDirectory: string): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  for (const [engine, file] of Object.entries(FILES)) {
    const text = await readFile(join(dataDirectory, file), 'utf8').catch(() => '');
    for (const line of text.split('\n').filter((each) => each !== '')) {
      const kind = `${engine}: ${kindOf(line)}`;
      found.set(kind, (found.get(kind) ?? 0) + 1);
    }
  }
  return found;
}

/** The text of a line without what differs from line to line. */
export function kindOf(line: string): string {
  const text = line
    .replace(/^[\d.:\- ]+(UTC )?/, '')
    .replace(/\[[^\]]*\]|\{[^}]*\}/g, '')
    .replace(/\d+/g, 'N');
  return text.replace(/\s+/g, ' ').trim().slice(0, 120);
}

import { readdir, readFile, writeFile } from 'node:fs/promises';

// What the processes of the product, its engines and the broker use, read from /proc (Linux only,
// like the figures).

/** The product's programs, its engines and the broker; `other` are shells that guard an engine. */
export const PARTS = [
  'ingest',
  'billing-api',
  'aggregator',
  'clickhouse',
  'postgres',
  'kafka',
  'other',
] as const;
export type Part = (typeof PARTS)[number];
export type ProductProcess = { readonly pid: number; readonly part: Part };

/** `npm start` runs ingest in its first process. */
const COMMANDS: readonly (readonly [RegExp, Part | null])[] = [
  [/load\/yardstick/, null],
  [/clickhouse\/embedded-server/, 'clickhouse'],
  [/ingest\/main|cli\/minutebook/, 'ingest'],
  [/aggregator\/main/, 'aggregator'],
  [/billing-api\/main/, 'billing-api'],
  [/kafka\.Kafka/, 'kafka'],
  [/postgres/, 'postgres'],
];

/** The part that a command line belongs to; null for the client and its yardstick. */
export function partOf(commandLine: string): Part | null {
  const found = COMMANDS.find(([pattern]) => pattern.test(commandLine));
  return found === undefined ? 'other' : found[1];
}

type Stat = { readonly parent: number; readonly ticks: number };

/** The fields of /proc/PID/stat behind the name, which may hold blanks and brackets itself. */
export function statFrom(text: string): Stat {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  // utime, stime and those of children that have ended, such as sessions of PostgreSQL.
  const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at] ?? 0), 0);
  return { parent: Number(fields[1]), ticks };
}

/** A process may end while it is read. */
async function readProc(pid: number, name: string): Promise<string | null> {
  return readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => null);
}

async function statOf(pid: number): Promise<Stat | null> {
  const text = await readProc(pid, 'stat');
  return text === null ? null : statFrom(text);
}

/** The processes below each one. */
async function readChildren(): Promise<ReadonlyMap<number, readonly number[]>> {
  const children = new Map<number, number[]>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await statOf(Number(name));
    if (stat === null) continue;
    children.set(stat.parent, [...(children.get(stat.parent) ?? []), Number(name)]);
  }
  return children;
}

/** All processes below `root` that belong to the product, not `root` itself. */
export async function productProcesses(root: number): Promise<readonly ProductProcess[]> {
  const children = await readChildren();
  const found: ProductProcess[] = [];
  const below = [...(children.get(root) ?? [])];
  for (let pid = below.pop(); pid !== undefined; pid = below.pop()) {
    const commandLine = await readProc(pid, 'cmdline');
    // It has ended, and its children have another parent now.
    if (commandLine === null || commandLine === '') continue;
    const part = partOf(commandLine.replaceAll('\0', ' '));
    if (part === null) continue;
    found.push({ pid, part });
    below.push(...(children.get(pid) ?? []));
  }
  return found;
}

/** Ticks of a second in /proc, the same on every Linux. */
const TICKS_PER_SECOND = 100;

/**
 * CPU seconds that the processes and their ended children have used since they started, by part.
 */
export async function cpuSecondsOf(
  processes: readonly ProductProcess[],
): Promise<ReadonlyMap<Part, number>> {
  const seconds = new Map<Part, number>();
  for (const { pid, part } of processes) {
    const ticks = (await statOf(pid))?.ticks ?? 0;
    seconds.set(part, (seconds.get(part) ?? 0) + ticks / TICKS_PER_SECOND);
  }
  return seconds;
}

/**
 * Memory in MB. `resident` (RSS) counts pages that processes share, such as those of Node itself,
 * in full in each of them; `proportional` (PSS) its part of them, so that sums are right.
 */
export type Memory = { readonly resident: number; readonly proportional: number };

const megabytes = (text: string, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? Number.NaN) / 1024;

/** Null once the process has ended. */
export async function memoryOf(pid: number): Promise<Memory | null> {
  const sums = await readProc(pid, 'smaps_rollup');
  // The file of a process that is ending can be opened, but is empty.
  if (sums === null || sums === '') return null;
  return { resident: megabytes(sums, 'Rss'), proportional: megabytes(sums, 'Pss') };
}

/** The greatest RSS in MB since its start or `resetHighWater`; null once it has ended. */
export async function highWaterOf(pid: number): Promise<number | null> {
  const text = await readProc(pid, 'status');
  if (text === null) return null;
  const found = megabytes(text, 'VmHWM');
  return Number.isNaN(found) ? null : found;
}

/** Makes the kernel measure the high-water mark from now on (proc(5), clear_refs). */
export async function resetHighWater(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, '5');
}

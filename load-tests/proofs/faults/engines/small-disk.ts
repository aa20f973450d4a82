import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, openSync, closeSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, messageOf } from '../../../../runtime/failure.js';

/** A disk of its own for one engine, small enough to be filled. */
export type SmallDisk = {
  readonly directory: string;
  /** Leaves no byte free until `free`. */
  fill(): void;
  free(): void;
  unmount(): void;
};

/** A disk, or why this machine does not let us have one. */
export type SmallDiskOffer =
  | { readonly disk: SmallDisk; readonly skipReason: null }
  | { readonly disk: null; readonly skipReason: string };

const SIZE_MEGABYTES = 768;
const STEPS_BYTES = [4 * 1024 * 1024, 64 * 1024, 4 * 1024] as const;

function write(file: number, bytes: number): boolean {
  try {
    return writeSync(file, Buffer.alloc(bytes)) === bytes;
  } catch (error) {
    if (codeOf(error) === 'ENOSPC') return false;
    throw error;
  }
}

/**
 * A disk in memory, mounted at the directory: needs the right to mount (root, or a namespace).
 */
export function mountSmallDisk(directory: string): SmallDiskOffer {
  mkdirSync(directory, { recursive: true });
  const size = `size=${SIZE_MEGABYTES}m`;
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', size, 'minutebook-faults', directory]);
  if (mounted.status !== 0) {
    const said = mounted.error === undefined ? String(mounted.stderr) : messageOf(mounted.error);
    return { disk: null, skipReason: `no disk can be mounted here (${said.trim()})` };
  }
  const ballast = join(directory, 'ballast');
  // For whoever is interrupted: engines end a moment after us, and need their files until then.
  const unmountLater = (): void => {
    const command = ['-c', 'sleep 10; umount -l "$1"', 'sh', directory];
    spawn('sh', command, { detached: true, stdio: 'ignore', cwd: '/' }).unref();
  };
  process.once('exit', unmountLater);
  const disk: SmallDisk = {
    directory,
    fill: () => {
      const file = openSync(ballast, 'w');
      for (const step of STEPS_BYTES) while (write(file, step));
      closeSync(file);
      const { bavail } = statfsSync(directory);
      if (bavail > 1) throw new Error(`${bavail} blocks are free on a disk that was filled`);
    },
    free: () => {
      rmSync(ballast, { force: true });
    },
    unmount: () => {
      process.off('exit', unmountLater);
      spawnSync('umount', ['-l', directory]);
    },
  };
  return { disk, skipReason: null };
}

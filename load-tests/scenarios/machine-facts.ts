import { cpus, loadavg, totalmem } from 'node:os';

/** What a figure was measured on; without it the figure says nothing. */
export type MachineFacts = {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly node: string;
  /** Runnable processes on average over the last minute, before the measurement ended. */
  readonly load: number;
  readonly measuredAt: string;
};

export function machineFacts(): MachineFacts {
  const processors = cpus();
  return {
    cpu: processors[0]?.model ?? 'unknown',
    cores: processors.length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    load: loadavg()[0] ?? 0,
    measuredAt: new Date().toISOString(),
  };
}

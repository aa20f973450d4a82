import { parentPort, workerData } from 'node:worker_threads';
import { attack, type Attacker, type AttackName, type Statuses } from './attack-list.js';

// A thread that attacks until it is told to end, so that the attacks take no time of its starter.

export type AttackOrder = {
  readonly names: readonly AttackName[];
  readonly attacker: Attacker;
};

/** What was answered to each attack. */
export type AttackReport = readonly (readonly [AttackName, Statuses])[];

// What its starter gave.
const { names, attacker } = workerData as AttackOrder;
const over = new AbortController();
parentPort?.once('message', () => over.abort());
const report: AttackReport = await Promise.all(
  names.map(async (name) => [name, await attack(name, attacker, over.signal)] as const),
);
parentPort?.postMessage(report);

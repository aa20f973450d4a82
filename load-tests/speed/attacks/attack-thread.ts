import { parentPort, workerData } from 'node:worker_threads';
import { attack, type Attacker, type AttackName, type Statuses } from './attack-list.js';

// A thread of one attack, which goes on until it is told to end, so that it takes no time of its
// starter or of the other attacks.

export type AttackOrder = { readonly name: AttackName; readonly attacker: Attacker };

/** What was answered to the attack. */
export type AttackReport = readonly [AttackName, Statuses];

// What its starter gave.
const { name, attacker } = workerData as AttackOrder;
const over = new AbortController();
parentPort?.once('message', () => over.abort());
const report: AttackReport = [name, await attack(name, attacker, over.signal)];
parentPort?.postMessage(report);

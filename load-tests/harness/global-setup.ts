import type { TestProject } from 'vitest/node';
import { build, isStale } from './build.js';
import { acquireEngines, releaseEngines } from './engines.js';
import './provided-context.js';

/** What tests start as processes, by the project that starts it. */
const PROCESSES = ['clickhouse/embedded-server'];

/** Starts the engines of a project and tells its tests where they are. */
export async function setup(project: TestProject): Promise<void> {
  // End-to-end tests run the product from dist, so any source may matter to them.
  if (project.name === 'e2e' || PROCESSES.some(isStale)) await build();
  const engines = await acquireEngines();
  project.provide('databaseUrl', engines.databaseUrl);
  project.provide('templateName', engines.templateName);
  project.provide('clickhouseUrl', engines.clickhouseUrl);
}

export async function teardown(): Promise<void> {
  await releaseEngines();
}

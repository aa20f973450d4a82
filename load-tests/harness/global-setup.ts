import type { TestProject } from 'vitest/node';
import { buildWhenStale } from './build.js';
import { acquireEngines, releaseEngines } from './engines.js';
import './provided-context.js';

/** Starts the engines of a project and tells its tests where they are. */
export async function setup(project: TestProject): Promise<void> {
  await buildWhenStale(project.name === 'e2e' ? 'product' : 'engines');
  const engines = await acquireEngines();
  project.provide('databaseUrl', engines.databaseUrl);
  project.provide('templateName', engines.templateName);
  project.provide('clickhouseUrl', engines.clickhouseUrl);
}

export async function teardown(): Promise<void> {
  await releaseEngines();
}

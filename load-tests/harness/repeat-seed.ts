import { givenSeed } from './draw-seed.js';

// Runs before each test file. The message of a failed fast-check property contains its seed; with
// TEST_SEED set to it, the property draws the same values again.
const seed = givenSeed();
if (seed !== null) {
  // Loaded only then, since most test files do not use the library.
  const { configureGlobal } = await import('fast-check');
  configureGlobal({ seed });
}

import { givenSeed } from './draw-seed.js';

// Runs before each test file. The message of a failed property says its seed: with it in TEST_SEED
// the property draws the same values again.
const seed = givenSeed();
if (seed !== null) {
  // Only then, since most files do without the library.
  const { configureGlobal } = await import('fast-check');
  configureGlobal({ seed });
}

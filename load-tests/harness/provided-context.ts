/** What the configuration and the global set-up hand to the tests (vitest's `inject`). */
declare module 'vitest' {
  interface ProvidedContext {
    /** `npm run nightly` runs the tests: they may take their time. */
    isNightly: boolean;
    databaseUrl: string;
    templateName: string;
    clickhouseUrl: string;
  }
}

export {};

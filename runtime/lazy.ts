type Closable = { readonly close: () => Promise<void> };

/** A resource that is opened when it is first needed. */
export type Lazy<T> = {
  /** The resource. The first call opens it; after a failure the next call tries again. */
  readonly get: () => Promise<T>;
  /** Closes the resource if it was opened. */
  readonly close: () => Promise<void>;
};

/** Makes a program start quickly and work without the resource until it is needed. */
export function createLazy<T extends Closable>(open: () => Promise<T>): Lazy<T> {
  let opening: Promise<T> | null = null;
  return {
    get: () => {
      opening ??= open().catch((error: unknown) => {
        opening = null;
        throw error;
      });
      return opening;
    },
    close: async () => {
      // The caller of `get` has got the failure to open.
      const opened = await opening?.catch(() => null);
      await opened?.close();
    },
  };
}

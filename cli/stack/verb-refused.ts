/** A verb cannot do as it was told; the message says why and what to do, in one sentence. */
export class VerbRefused extends Error {
  override readonly name: string = 'VerbRefused';
}
